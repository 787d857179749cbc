package enginebench

import (
	"math"
	"slices"
	"time"
)

// Three, Two and One are times in milliseconds.
type Three struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

// Two is a median and a 95th percentile.
type Two struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// One is a median.
type One struct {
	P50 float64 `json:"p50"`
}

func three(list []time.Duration) Three {
	return Three{percentile(list, 50), percentile(list, 95), percentile(list, 99)}
}

func two(list []time.Duration) Two { return Two{percentile(list, 50), percentile(list, 95)} }

// percentile by nearest rank, in milliseconds.
func percentile(list []time.Duration, p int) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	rank := (len(sorted)*p + 99) / 100
	return float64(sorted[max(rank, 1)-1].Microseconds()) / 1000
}

func round(v float64) float64 { return math.Round(v*1000) / 1000 }
