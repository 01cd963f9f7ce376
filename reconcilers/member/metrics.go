package member

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
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

func init() {
	metrics.Registry.MustRegister(drifts)
	for _, outcome := range []string{outcomeMended, outcomeReported, outcomeContested} {
		drifts.WithLabelValues(outcome)
	}
}
