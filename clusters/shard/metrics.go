package shard

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	shardsOwned = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "syncline_shards_owned",
		Help: "Shards that this replica owns.",
	})
	shardMoves = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "syncline_shard_moves_total",
		Help: "Beginnings and ends of this replica's ownership of a shard, by reason.",
	}, []string{"reason"})
	shardsOwnerless = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "syncline_shards_ownerless",
		Help: "Shards whose Lease bears the name of no replica that lives, as this replica sees it.",
	})
	handoverSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "syncline_shard_handover_seconds",
		Help:    "Time from the last write that this replica began on a shard's members until it gave the Lease back.",
		Buckets: prometheus.ExponentialBuckets(0.005, 2, 12),
	})
	takeoverSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "syncline_shard_takeover_seconds",
		Help:    "Time from the last sign of a shard's previous owner until this replica owned it, by reason.",
		Buckets: prometheus.ExponentialBuckets(0.005, 2, 14),
	}, []string{"reason"})
	renewSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "syncline_lease_write_seconds",
		Help:    "Duration of successful writes of Leases.",
		Buckets: prometheus.ExponentialBuckets(0.001, 2, 13),
	})
)

func init() {
	metrics.Registry.MustRegister(shardsOwned, shardMoves, shardsOwnerless, handoverSeconds, takeoverSeconds, renewSeconds)
}

// begun counts the beginning of a tenure.
func begun(o order) {
	shardsOwned.Inc()
	shardMoves.WithLabelValues(string(o.reason)).Inc()
	takeoverSeconds.WithLabelValues(string(o.reason)).Observe(o.lasted.Seconds())
}

// ended counts the end of a tenure.
func ended(o order) {
	shardsOwned.Dec()
	shardMoves.WithLabelValues(string(o.reason)).Inc()
}

// countOwnerless counts the shards without an owner.
func countOwnerless(holdings []Holding) {
	n := 0
	for _, h := range holdings {
		if h.Replica == "" {
			n++
		}
	}
	shardsOwnerless.Set(float64(n))
}
