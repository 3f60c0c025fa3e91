package server

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

// histogram counts how long executions take.
type histogram struct {
	buckets [len(latencyBounds) + 1]atomic.Uint64 // the last one has what is longer than all bounds
	total   atomic.Int64                          // nanoseconds
	longest atomic.Int64

	rate rate // belongs to latencies.mu
}

// observe counts an execution.
func (h *histogram) observe(took time.Duration) {
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

// timings are what histograms have counted, added up.
type timings struct {
	buckets [len(latencyBounds) + 1]uint64
	total   time.Duration
	longest time.Duration
	rate    float64
}

// add adds what a histogram has counted. Of its rate it is right only while latencies.mu is held.
func (t *timings) add(h *histogram) {
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

// percentile estimates which time a share of the executions did not exceed: executions are spread evenly in a bucket.
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

// latency is what virtual tables show.
func (t *timings) latency() system.Latency {
	return system.Latency{
		Count: int64(t.count()), Max: t.longest, P50: t.percentile(0.5), P99: t.percentile(0.99), PerSecond: t.rate,
	}
}

// rate is how many executions a second there were of late: a moving average over five minutes.
type rate struct {
	counted   uint64
	perSecond float64
	begun     bool
}

// rateEvery is how often rates are computed.
const rateEvery = 5 * time.Second

// rateWeight is the weight of the last rateEvery in the average.
var rateWeight = 1 - math.Exp(-float64(rateEvery)/float64(5*time.Minute))

// tick computes the rate, when rateEvery has gone by, of a number of executions since the start.
func (r *rate) tick(executions uint64) {
	last := float64(executions-r.counted) / rateEvery.Seconds()
	r.counted = executions
	if !r.begun {
		r.begun, r.perSecond = true, last
		return
	}
	r.perSecond += rateWeight * (last - r.perSecond)
}

// amountBounds are the upper bounds of the buckets of amounts, those of Cassandra's estimates: each is a fifth larger
// than the one before.
var amountBounds = func() (bounds []int64) {
	for last := int64(1); len(bounds) < len(amounts{}.buckets); {
		bounds = append(bounds, last)
		last = max(last+1, int64(math.Round(float64(last)*1.2)))
	}
	return bounds
}()

// amounts counts numbers of things: rows of reads, partitions of batches.
type amounts struct {
	none    atomic.Uint64
	buckets [90]atomic.Uint64 // by amountBounds; the last one has everything that is more
}

// observe counts a number.
func (a *amounts) observe(n int) {
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

// distribution is what virtual tables show: the bounds of buckets.
func (a *amounts) distribution() system.Distribution {
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
