package rows

import (
	"math"

	"github.com/cqld/cqld/cql/schema"
)

// DroppedTimes returns, by column index, the timestamp up to which cells belong to a dropped column of that name
// and are ignored; nil if no column was dropped before. last is the latest of these timestamps.
func DroppedTimes(t *schema.Table) (times []int64, last int64) {
	last = math.MinInt64
	for _, c := range t.Columns {
		upTo, some := t.Lost(c.ID)
		if !some {
			continue
		}
		if times == nil {
			times = make([]int64, len(t.Columns))
			for i := range times {
				times[i] = math.MinInt64
			}
		}
		times[c.Index], last = upTo, max(last, upTo)
	}
	return times, last
}
