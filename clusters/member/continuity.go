package member

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// rule is one of the things that must hold of what a watch delivers. A stream that breaks
// one cannot be believed: events were lost or mixed up on the way, or the server went back
// in time. Nothing of ours can break one.
type rule string

const (
	// ruleEventOrder: within one stream versions never go back.
	ruleEventOrder rule = "EventOrder"
	// ruleBookmarkOrder: a bookmark is not older than what was delivered before it.
	ruleBookmarkOrder rule = "BookmarkOrder"
	// ruleDeletionOrder: a deletion is not older than what was delivered before it, the
	// object that it deletes included.
	ruleDeletionOrder rule = "DeletionOrder"
	// ruleIdentity: another object of the same name comes only after the deletion of the
	// first was delivered.
	ruleIdentity rule = "Identity"
	// ruleGenerationOrder: the generation of an object never goes back.
	ruleGenerationOrder rule = "GenerationOrder"
)

// continuity judges what one watch delivers, in the order in which it comes. The zero value
// is a watch that has delivered nothing. A method that returns a rule, not "", has found it
// broken; what was delivered then does not count.
type continuity struct {
	// revision is the newest version that was delivered, by a list, an event or a bookmark.
	revision string
}

// listed takes a list as it was at a version. From then on the watch goes on from there.
func (c *continuity) listed(version string) { c.revision = version }

// precedes says whether a list as it was at a version is older than what was delivered.
func (c *continuity) precedes(version string) bool {
	return c.revision != "" && older(version, c.revision)
}

// event takes an object that was added or changed. What is known of the name, if anything
// is, may be of our own writes, and so be newer than the event.
func (c *continuity) event(next Observation, known Observation, isKnown bool) rule {
	if c.precedes(next.ResourceVersion) {
		return ruleEventOrder
	}
	if isKnown && older(known.ResourceVersion, next.ResourceVersion) {
		switch {
		case known.UID != next.UID:
			return ruleIdentity
		case next.Generation < known.Generation:
			return ruleGenerationOrder
		}
	}
	c.revision = next.ResourceVersion
	return ""
}

// deletion takes the deletion of an object, at the version of the deletion.
func (c *continuity) deletion(last Observation, known Observation, isKnown bool) rule {
	if c.precedes(last.ResourceVersion) {
		return ruleDeletionOrder
	}
	if isKnown && older(known.ResourceVersion, last.ResourceVersion) && known.UID != last.UID {
		return ruleIdentity
	}
	c.revision = last.ResourceVersion
	return ""
}

// bookmark takes the server's word that everything up to a version was delivered.
func (c *continuity) bookmark(version string) rule {
	if c.precedes(version) {
		return ruleBookmarkOrder
	}
	c.revision = version
	return ""
}

// contradicts says whether a list cannot be of the same history as what is known: the
// server holds an older object than the one that we have seen, though the list is newer
// than both. A store that was restored and then told to count on from a higher revision
// looks like that; one that counts on from where the backup was made is found by precedes.
func contradicts(listed Observation, version string, known Observation) bool {
	return older(listed.ResourceVersion, known.ResourceVersion) && !newer(known.ResourceVersion, version)
}

func init() { metrics.Registry.MustRegister(continuityViolations) }

// continuityViolations counts broken rules. Kinds are those that layers hold.
var continuityViolations = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "syncline_member_continuity_violations_total",
	Help: "Deliveries of members' watches that contradict what was delivered before. Each makes the watch begin anew.",
}, []string{"kind", "rule"})
