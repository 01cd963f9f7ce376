package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settings say what is played, and on what.
type settings struct {
	// members are registered at any time, and as many clusters are spare.
	members, spare int
	timings        timings
	pace           pace
	// brief plays only what is meant for continuous integration, once.
	brief bool
	only  []string // by name; all if there are none
	race  bool     // the managers are built with the race detector
	dir   string   // for logs, audit logs and kubeconfigs; it must be there
}

// timings are those of the managers, and what bounds allow for beside them: for a claim, for a
// new owner to connect to a member and look at it, on a machine with dozens of control planes.
type timings struct{ lease, renew, retry, slack time.Duration }

// flags are the managers'.
func (t timings) flags() []string {
	return []string{
		"--lease-duration=" + t.lease.String(), "--renew-deadline=" + t.renew.String(),
		"--retry-period=" + t.retry.String(),
	}
}

const (
	// startLimit bounds the start of managers, endLimit the end of one beyond the hand-over.
	startLimit = 15 * time.Second
	endLimit   = 15 * time.Second
)

// takeover bounds how long a member has no owner after its owner has ceased to act.
func (t timings) takeover() time.Duration { return t.lease + t.slack }

// handover bounds it where the owner gives it back.
func (t timings) handover() time.Duration { return t.retry + t.slack }

// restart bounds it where no replica is left, and others are started.
func (t timings) restart() time.Duration { return t.lease + startLimit + t.slack }

// giveUp is when nothing good is to be expected any more.
func (t timings) giveUp() time.Duration { return 3*t.lease + startLimit + 2*t.slack }

// pace is how busy the fleet is.
type pace struct {
	drift time.Duration // from the end of a drift to the next on the same member
	edit  time.Duration // from one change of a layer to the next
	churn time.Duration // from one member's joining to the next
}

// paceOf is such that two cores can bear it: a control plane costs a fiftieth of one at rest.
func paceOf(members int) pace {
	each := time.Duration(members)
	return pace{drift: 150 * time.Millisecond * each, edit: 400 * time.Millisecond * each, churn: 10 * time.Second}
}

// wanted are the scenarios that are played.
func (s settings) wanted() []scenario {
	return slices.DeleteFunc(slices.Clone(scenarios), func(sc scenario) bool {
		return s.brief && !sc.brief || len(s.only) > 0 && !slices.Contains(s.only, sc.name)
	})
}

// times is how often a scenario is played.
func (s settings) times(sc scenario) int {
	if s.brief {
		return 1
	}
	return sc.times
}

func (s settings) validate() error {
	if s.members < crew {
		return fmt.Errorf("-members: there must be %d at least", crew)
	}
	for _, name := range s.only {
		if !slices.ContainsFunc(scenarios, func(sc scenario) bool { return sc.name == name }) {
			return fmt.Errorf("-only: there is no %q; there are %s", name, catalogue())
		}
	}
	if len(s.wanted()) == 0 {
		return errors.New("nothing is left to be played")
	}
	return nil
}

func catalogue() string {
	var names []string
	for _, sc := range scenarios {
		names = append(names, sc.name)
	}
	return strings.Join(names, ", ")
}
