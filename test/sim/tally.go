package sim

import (
	"sync/atomic"
	"time"
)

// incident is a kind of thing that happens in a schedule, and is counted: a reader should see
// that schedules are not empty.
type incident int

const (
	crashes incident = iota
	restarts
	stops
	joins
	pauses
	pausesPastLease
	pausesAfterClock
	pausesBeforeSend
	partitions
	partitionsPastLease
	storms
	skewedClocks
	leasesDeleted
	holdersRemoved
	holdersChanged
	leasesSetBack
	callsFailed
	callsFailedExecuted
	callsTimedOut
	conflicts
	watchesBroken
	watchesExpired
	tenuresTaken
	tenuresExpired
	tenuresHandedOver
	tenuresLost
	writes
	writesRefused
	writesFenced
	writesHung
	writesGivenUp
	writesCut
	cutsLost
	writesTimedOut
	fullSize

	incidents = iota // how many kinds there are
)

var incidentNames = [incidents]string{
	crashes:             "crashes",
	restarts:            "restarts",
	stops:               "stops",
	joins:               "joins",
	pauses:              "pauses",
	pausesPastLease:     "pauses_past_lease",
	pausesAfterClock:    "pauses_after_clock_was_read",
	pausesBeforeSend:    "pauses_between_admission_and_sending",
	partitions:          "partitions",
	partitionsPastLease: "partitions_past_lease",
	storms:              "storms",
	skewedClocks:        "clocks_off_by_more_than_lease",
	leasesDeleted:       "leases_deleted_by_hand",
	holdersRemoved:      "holders_removed_by_hand",
	holdersChanged:      "holders_changed_by_hand",
	leasesSetBack:       "leases_set_back_by_hand",
	callsFailed:         "calls_failed",
	callsFailedExecuted: "calls_failed_but_executed",
	callsTimedOut:       "calls_timed_out",
	conflicts:           "conflicts",
	watchesBroken:       "watches_broken",
	watchesExpired:      "watches_expired",
	tenuresTaken:        "tenures_by_takeover",
	tenuresExpired:      "tenures_expired",
	tenuresHandedOver:   "tenures_handed_over",
	tenuresLost:         "tenures_taken_away",
	writes:              "writes",
	writesRefused:       "writes_refused",
	writesFenced:        "writes_stopped_after_admission",
	writesHung:          "writes_hung",
	writesGivenUp:       "writes_given_up",
	writesCut:           "writes_cut_off",
	cutsLost:            "cut_offs_not_noticed",
	writesTimedOut:      "writes_timed_out",
	fullSize:            "schedules_of_20_replicas_1000_members",
}

func (i incident) String() string { return incidentNames[i] }

// tally counts incidents of one schedule.
type tally [incidents]atomic.Int64

func (t *tally) count(i incident) { t[i].Add(1) }

// longer counts what lasts for some time, and if that is longer than a Lease counts so also as
// that.
func (t *tally) longer(lasts time.Duration, i, pastLease incident) {
	t.count(i)
	if lasts > leaseDuration {
		t.count(pastLease)
	}
}

// counts is a tally that is over.
type counts [incidents]int64

func (t *tally) counts() (c counts) {
	for i := range t {
		c[i] = t[i].Load()
	}
	return c
}

func (c *counts) add(other counts) {
	for i := range other {
		c[i] += other[i]
	}
}
