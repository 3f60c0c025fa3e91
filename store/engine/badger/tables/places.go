package tables

import "math"

// lowerBound is the first of the heads that is not below head. It looks at one of them first, and goes on from there in
// steps that grow, as what is near is in the same lines of memory.
func lowerBound(heads []uint64, head uint64, at int) int {
	low, high := 0, len(heads)
	at = min(at, high-1)
	for step := 1; low < high; {
		if heads[at] < head {
			low = at + 1
		} else {
			high = at
		}
		at, step = nextPlace(at, step, low, high, len(heads))
	}
	return low
}

// upperBound is the first of the heads that is above head. It looks at one of them first.
func upperBound(heads []uint64, head uint64, at int) int {
	if head == math.MaxUint64 {
		return len(heads)
	}
	return lowerBound(heads, head+1, at)
}

// nextPlace is where a search among n goes on that was at some place and knows what it looks for to be between low and
// high: in steps that grow until it knows an end on both sides, then in the middle.
func nextPlace(at, step, low, high, n int) (place, nextStep int) {
	switch {
	case high == n:
		return min(at+step, n-1), 2 * step
	case low == 0:
		return max(at-step, 0), 2 * step
	}
	return int(uint(low+high) >> 1), step
}

// partOf is about how much of the keys between two heads is before one of them, if keys are spread evenly, as those of
// partitions are. Else it is half of them, and even is false.
func partOf(head, from, to uint64) (part float64, even bool) {
	if to <= from || head < from || head > to {
		return 0.5, false
	}
	return float64(head-from) / float64(to-from), true
}
