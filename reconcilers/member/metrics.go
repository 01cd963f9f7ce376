package member

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// The outcomes of drift.
const (
	outcomeMended    = "mended"
	outcomeReported  = "reported"
	outcomeContested = "contested"
)

// drifts counts changes by others, once each time that one is found.
var drifts = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "syncline_drift_total",
	Help: "Objects on members that others changed or deleted, by what became of that: mended, reported, contested.",
}, []string{"outcome"})

// fallbacks counts what was done about revisions that did not converge in time.
var fallbacks = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "syncline_convergence_fallbacks_total",
	Help: "Revisions that did not converge on a member in time, by what was done: Holding, RolledBack, Skipped, Retrying.",
}, []string{"outcome"})

// illegalTransitions counts steps of the state machine that must not be. It stays 0.
var illegalTransitions = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "syncline_convergence_illegal_transitions_total",
	Help: "Steps of convergence that must never happen: a fault of the program.",
})

func init() {
	metrics.Registry.MustRegister(drifts, fallbacks, illegalTransitions)
	for _, outcome := range []v1alpha1.Outcome{v1alpha1.OutcomeHolding, v1alpha1.OutcomeRolledBack, v1alpha1.OutcomeSkipped, v1alpha1.OutcomeRetrying} {
		fallbacks.WithLabelValues(string(outcome))
	}
	for _, outcome := range []string{outcomeMended, outcomeReported, outcomeContested} {
		drifts.WithLabelValues(outcome)
	}
}
