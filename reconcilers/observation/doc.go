// Package observation takes the observations that StateAssertions ask for. It runs on every
// replica and looks at the members that the replica owns.
//
// What it keeps is in the MemberCluster's status, with the time and the resourceVersion; what
// follows from it is judged by the leader (reconcilers/assertion).
//
// Trade-offs: members are looked at again and again, and not watched. A watch of every kind
// that a person may name, without a label that narrows it, would cost as much as the member is
// large. At rest a member is listed once a minute, and the hub written to when an observation
// would otherwise grow older than half of what the assertion lets it.
package observation
