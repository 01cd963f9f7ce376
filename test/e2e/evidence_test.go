package e2e

import (
	"slices"
	"strings"
	"time"

	"github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/test/fleet"
)

// awaitEvent waits until an event tells of a layer on a member: by its reason, and with
// parts of its note. The binding may be gone by then.
func (a *arena) awaitEvent(layer, member, reason string, says ...string) {
	a.Helper()
	a.awaitEventOn("LayerBinding", member+"-"+layer+"-", reason, says...)
}

// awaitEventOn is awaitEvent for an object of any kind, by the beginning of its name.
func (a *arena) awaitEventOn(kind, prefix, reason string, says ...string) {
	a.Helper()
	a.eventually("an event "+reason+" tells of "+kind+" "+prefix, func(g gomega.Gomega) {
		notes := a.notes(g, reason, kind, prefix)
		g.Expect(slices.ContainsFunc(notes, func(note string) bool { return containsAll(note, says) })).
			To(gomega.BeTrue(), "none of these says all of %q: %q", says, notes)
	})
}

// notes are those of the test's events with a reason, about objects of a kind whose names
// have a beginning.
func (a *arena) notes(g gomega.Gomega, reason, kind, prefix string) []string {
	var list eventsv1.EventList
	g.ExpectWithOffset(1, a.hub.List(a.Context(), &list, client.InNamespace(a.namespace))).To(gomega.Succeed())
	var notes []string
	for _, e := range list.Items {
		if e.Reason == reason && e.Regarding.Kind == kind && strings.HasPrefix(e.Regarding.Name, prefix) {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

func containsAll(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

// problemOf is what a binding's status says of an object, or of the layer as a whole for "".
func problemOf(binding *v1alpha1.LayerBinding, object string) v1alpha1.Problem {
	for _, p := range binding.Status.Problems {
		if p.Object == object {
			return p
		}
	}
	return v1alpha1.Problem{}
}

// expectOn checks that a binding's status says of an object what a complaint says.
func (c complaint) expectOn(g gomega.Gomega, binding *v1alpha1.LayerBinding, object string) {
	p := problemOf(binding, object)
	g.ExpectWithOffset(1, p).NotTo(gomega.BeZero(), "no problem of %s among %v", object, binding.Status.Problems)
	c.check(g, p.Reason, p.Path+": "+p.Message)
}

// moment is how long nothing must follow what would be followed at once.
const moment = 4 * time.Second

// expectSilence makes sure that nothing is sent to the test's objects on the member for a
// moment, from the first of some deeds on.
func (s *site) expectSilence(deeds ...func()) {
	s.arena.Helper()
	since := s.cluster.Audit().End()
	for _, do := range deeds {
		do()
	}
	s.arena.throughout(moment, "nothing is sent to "+s.name, func(g gomega.Gomega) {
		g.Expect(s.writes(g, since, s.ours)).To(gomega.BeEmpty())
	})
}

// deletes are Syncline's requests to delete what bears the test's name on the member, since a
// time in its audit log. What a hub does to itself is not among them.
func (s *site) deletes(g gomega.Gomega, since fleet.AuditOffset) []string {
	return s.writes(g, since, fleet.ByUserAgent("syncline ("), func(e *auditv1.Event) bool {
		return strings.HasPrefix(e.Verb, "delete") && strings.Contains(e.RequestURI, s.arena.namespace)
	})
}
