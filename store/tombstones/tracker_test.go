package tombstones

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cqld/cqld/store/bloom"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/usage"
)

// TestRebuildWaits begins to make a filter while a mutation is being committed: it waits for that, and knows
// tombstones that are written afterwards.
func TestRebuildWaits(t *testing.T) {
	x, u := Tracker{budget: bloom.NewBudget(1 << 20)}, usage.NewUsage()
	kinds := [Kinds]bool{true, false}
	period := u.BeginWrite(1, 1, math.MaxInt64)
	early := x.BeginWrite(1, 10, kinds, nil)
	begun := make(chan *Rebuild)
	waits := make(chan struct{})
	go func() {
		begun <- x.RebuildFilter(1, func() {
			close(waits)
			u.AwaitWrites()
		})
	}()
	old := x.FilterOf(1, x.Clock())
	<-waits
	late := x.BeginWrite(1, 20, [Kinds]bool{false, true}, nil)
	select {
	case <-begun:
		t.Fatal("the rebuild does not wait for what is being committed")
	default:
	}
	early.End()
	u.EndWrite(period)
	c, before := <-begun, x.Clock()
	if x.FilterOf(1, before) != old {
		t.Error("what is known has changed before the rebuild is finished")
	}
	c.Add(OfPartition, 30)
	late.End()
	c.Finish(true)
	known := x.FilterOf(1, x.Clock())
	if known == old || !known.Has(OfRange, 20) || !known.Has(OfPartition, 30) || known.Has(OfPartition, 10) {
		t.Error("what is known is not what was added")
	}
	if x.FilterOf(1, before) != Unknown || x.FilterOf(2, before) != nil {
		t.Error("what is known is taken for what is known in an earlier snapshot")
	}
	old.Add(OfPartition, 40) // by a writer that has found it before
	if !known.Has(OfPartition, 40) {
		t.Error("a tombstone is lost")
	}
	x.RebuildFilter(1, u.AwaitWrites).Finish(false)
	if x.FilterOf(1, x.Clock()) != known {
		t.Error("a rebuild that was given up changes what is known")
	}
	x.Forget(1)
	if x.FilterOf(1, before) != Unknown || x.FilterOf(1, x.Clock()) != nil {
		t.Error("a table that was forgotten has no tombstones in an earlier snapshot")
	}
}

// TestDeletionsAreBounded enters partitions until there is no memory left: then all may have tombstones.
func TestDeletionsAreBounded(t *testing.T) {
	const size = 64 << 10
	x := Tracker{budget: bloom.NewBudget(size)}
	r := rand.New(rand.NewPCG(1, 1))
	token := func() int64 { return int64(r.Uint64()) }
	begin := func(token int64) *Filter {
		x.BeginWrite(1, token, [Kinds]bool{true, false}, nil).End()
		return x.FilterOf(1, x.Clock())
	}
	known := begin(token())
	for range size {
		begin(token())
	}
	if !known.Has(OfPartition, token()) || !known.Any() {
		t.Error("all is known of more tombstones than there is memory for")
	}
	x.Forget(1)
	if known = begin(5); !known.Has(OfPartition, 5) || known.Has(OfRange, 5) || known.Has(OfPartition, 6) {
		t.Error("memory that was given back cannot be used again")
	}
}

// BenchmarkFill begins and ends a commit beside as many empty ranges as there may be, and without any.
func BenchmarkFill(b *testing.B) {
	for name, n := range map[string]int{"none": 0, "elsewhere": maxEmpty} {
		b.Run(name, func(b *testing.B) {
			var d Tracker
			for i := range n {
				at := append(bytes.Repeat([]byte{1}, 16), byte(i/16), byte(16*(i%16)))
				d.Watch(&PurgeHint{Start: at, End: append(bytes.Clone(at), 1)})
				d.EndWatch(true)
			}
			ops := []engine.Op{{Key: append(bytes.Repeat([]byte{1}, 16), 7, 7, 7)}}
			for range b.N {
				d.BeginWrite(1, 1, [Kinds]bool{}, ops).End()
			}
		})
	}
}

// TestEmptyRangeList fills random keys of ranges, and compares with a list of keys what is left.
func TestEmptyRangeList(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		d := Tracker{LongRun: 1}
		var empty [256]bool
		for range 30 {
			from := r.IntN(250)
			to := from + 1 + r.IntN(255-from)
			if r.IntN(2) == 0 {
				d.Fill([]byte{byte(from)})
				empty[from] = false
				continue
			}
			h := PurgeHint{Start: []byte{byte(from)}, End: []byte{byte(to)}, Removed: 1 << 20}
			noted := d.Watch(&h)
			if noted != slices.Contains(empty[from:to], false) {
				t.Fatalf("watching %d to %d says %v", from, to, noted)
			}
			if d.EmptyRanges().First(h.Start, h.End, false, Emptying-1) != nil && noted {
				t.Fatal("a range is used that is being emptied")
			}
			isEmpty := r.IntN(3) > 0
			d.EndWatch(isEmpty)
			for i := range empty {
				if _, in := (emptyRanges{{Start: h.Start, End: h.End}}).At([]byte{byte(i)}); in && noted {
					empty[i] = isEmpty
				}
			}
		}
		for i := range 255 {
			if _, in := d.EmptyRanges().At([]byte{byte(i)}); in != empty[i] {
				t.Fatalf("key %d is in an empty range: %v", i, in)
			}
		}
	}
}
