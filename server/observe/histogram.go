// Package observe has the counters of a server: how long statements take, by kind and table (Latencies, of which each
// plan keeps a Histogram), how many rows reads go over (Amounts), and how many log lines clients cause (LogLimit).
package observe

import (
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/store/system"
)

// latencyBounds are the upper bounds of the buckets of durations: from a read of one row in memory to the longest of
// the default timeouts of reads.
var latencyBounds = [...]time.Duration{
	10 * time.Microsecond, 25 * time.Microsecond, 50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond,
	500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// Histogram counts how long executions take.
type Histogram struct {
	buckets [len(latencyBounds) + 1]atomic.Uint64 // the last one counts executions above all bounds
	total   atomic.Int64                          // nanoseconds
	longest atomic.Int64

	rate rate // guarded by Latencies.mu
}

// Observe counts an execution.
func (h *Histogram) Observe(took time.Duration) {
	low, high := 0, len(latencyBounds)
	for low < high {
		if middle := (low + high) / 2; took > latencyBounds[middle] {
			low = middle + 1
		} else {
			high = middle
		}
	}
	h.buckets[low].Add(1)
	h.total.Add(int64(took))
	for {
		longest := h.longest.Load()
		if int64(took) <= longest || h.longest.CompareAndSwap(longest, int64(took)) {
			return
		}
	}
}

// timings is the sum of histograms.
type timings struct {
	buckets [len(latencyBounds) + 1]uint64
	total   time.Duration
	longest time.Duration
	rate    float64
}

// add adds a histogram. The rate is right only while Latencies.mu is held.
func (t *timings) add(h *Histogram) {
	for i := range h.buckets {
		t.buckets[i] += h.buckets[i].Load()
	}
	t.total += time.Duration(h.total.Load())
	t.longest = max(t.longest, time.Duration(h.longest.Load()))
	t.rate += h.rate.perSecond
}

// merge adds other timings.
func (t *timings) merge(o *timings) {
	for i, n := range o.buckets {
		t.buckets[i] += n
	}
	t.total += o.total
	t.longest = max(t.longest, o.longest)
}

func (t *timings) count() (n uint64) {
	for _, in := range t.buckets {
		n += in
	}
	return n
}

// percentile estimates the time that a share of the executions did not exceed. It takes the executions of a bucket as
// evenly spread.
func (t *timings) percentile(share float64) time.Duration {
	rank := share * float64(t.count())
	below := time.Duration(0)
	for i, n := range t.buckets {
		end := t.longest
		if i < len(latencyBounds) {
			end = min(end, latencyBounds[i])
		}
		if n > 0 && float64(n) >= rank {
			return below + time.Duration(rank/float64(n)*float64(end-below))
		}
		rank -= float64(n)
		below = end
	}
	return t.longest
}

// latency is the row that virtual tables show.
func (t *timings) latency() system.Latency {
	return system.Latency{
		Count: int64(t.count()), Max: t.longest, P50: t.percentile(0.5), P99: t.percentile(0.99), PerSecond: t.rate,
	}
}

// rate is a moving average, over five minutes, of executions per second.
type rate struct {
	counted   uint64
	perSecond float64
	begun     bool
}

// RateInterval is how often Latencies.Tick is called.
const RateInterval = 5 * time.Second

// rateWeight is the weight of the last RateInterval in the average.
var rateWeight = 1 - math.Exp(-float64(RateInterval)/float64(5*time.Minute))

// tick computes the rate after RateInterval, from the number of executions since the start.
func (r *rate) tick(executions uint64) {
	last := float64(executions-r.counted) / RateInterval.Seconds()
	r.counted = executions
	if !r.begun {
		r.begun, r.perSecond = true, last
		return
	}
	r.perSecond += rateWeight * (last - r.perSecond)
}

// amountBounds are the upper bounds of the buckets of amounts, as in Cassandra's estimates: each is a fifth larger
// than the one before.
var amountBounds = func() (bounds []int64) {
	for last := int64(1); len(bounds) < len(Amounts{}.buckets); {
		bounds = append(bounds, last)
		last = max(last+1, int64(math.Round(float64(last)*1.2)))
	}
	return bounds
}()

// Amounts is a histogram of numbers: rows of reads, partitions of batches.
type Amounts struct {
	none    atomic.Uint64
	buckets [90]atomic.Uint64 // by amountBounds; the last one counts all larger numbers
}

// Observe counts a number.
func (a *Amounts) Observe(n int) {
	switch {
	case n <= 0:
		a.none.Add(1)
	case n <= 2:
		a.buckets[n-1].Add(1)
	default:
		i, _ := slices.BinarySearch(amountBounds, int64(n))
		a.buckets[min(i, len(a.buckets)-1)].Add(1)
	}
}

// Distribution is the row that virtual tables show: the bounds of buckets.
func (a *Amounts) Distribution() system.Distribution {
	var counts [len(a.buckets) + 1]uint64
	counts[0] = a.none.Load()
	d := system.Distribution{Count: int64(counts[0])}
	for i := range a.buckets {
		n := a.buckets[i].Load()
		counts[i+1] = n
		if d.Count += int64(n); n > 0 {
			d.Max = amountBounds[i]
		}
	}
	at := func(share float64) int64 {
		rank := math.Ceil(share * float64(d.Count))
		for i, n := range counts {
			if rank -= float64(n); rank <= 0 && n > 0 {
				return amountBounds[max(i, 1)-1] * int64(min(i, 1))
			}
		}
		return 0
	}
	d.P50, d.P99, d.P999 = at(0.5), at(0.99), at(0.999)
	return d
}
