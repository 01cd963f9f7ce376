// Command chaos proves on real control planes that a member has one writer at any moment, and
// is never without one for long. Three managers share members on which somebody changes things
// all the time, layers change, and members join and leave. Meanwhile managers are killed,
// stopped, cut off from the hub, ended and replaced.
//
// Then the members' audit logs are read: in the order in which an API server received our
// writes, epochs never go back, and no write begins while one of another epoch is under way
// (judge.go). They are also held against what the hub's Leases said (tenure.go), so that a
// write shows that came when another replica owned the member, or none.
//
// It prints a matrix, one line for each scenario, and figures; it fails on a violation, and
// where a member had no owner, or a change on it stayed, for longer than the bound. What was
// done when stands in timeline.txt beside the logs of managers and clusters.
//
// What it is not: a search. It plays each trouble a few times; test/sim plays a hundred thousand
// schedules of many, on virtual time.
package main
