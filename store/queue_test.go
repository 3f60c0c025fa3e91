package store

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// TestQueue uses a table as a queue: rows are put behind the last one, and the first one is read and deleted. Though
// nobody sweeps, the rows that were deleted must not pile up in front of the head.
func TestQueue(t *testing.T) {
	var c clock
	c.micros.Store(1000 * 1e6)
	s := open(t, "", Options{Now: c.now})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	table := s.Catalog().Table("ks", "t")
	key := types.EncodeInt(1)
	messages := sized(5000, 20000)
	for i := range int32(messages) {
		m := NewMutation(table, key)
		m.At(s.Now().Unix())
		m.Row([][]byte{types.EncodeInt(i)})
		m.Mark(s.Timestamp(), Expiry{})
		m.Set(table.Column("v"), []byte("a message"), s.Timestamp(), Expiry{})
		m.Row([][]byte{types.EncodeInt(i - 100)})
		m.DeleteRow(s.Timestamp())
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			c.micros.Add(1e6)
			err := s.Read(context.Background(), &Read{Table: table, Keys: [][]byte{key}, Now: s.Now().Unix()},
				func(*Row) (bool, error) { return false, nil })
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	c.micros.Add(2e6)
	eventually(t, "deleted rows purged", func() bool { return storedKeys(t, s, table.StoreID) < messages/10 })
}

// BenchmarkQueue uses a table on disk as a queue whose tombstones need not be kept, from its first row on and from its
// last one. It reports how long reads of the head took: while as many messages as -rows says are put, read and
// deleted; then of a folder that is opened with 100,000 deleted messages in front of the head, which the first reads
// have purged; then of the same folder when it is opened again.
func BenchmarkQueue(b *testing.B) {
	for name, reverse := range map[string]bool{"forward": false, "backward": true} {
		b.Run(name, func(b *testing.B) {
			q := benchQueue{B: b, dir: b.TempDir(), reverse: reverse}
			q.open()
			for range 100 {
				q.put(1)
			}
			for range *growthRows {
				q.put(1)
				q.take()
			}
			q.report("steady")
			b.ReportMetric(float64(folderSize(b, q.dir))/(1<<20), "MiB-end")
			for range 100 {
				q.put(1000)
				q.delete(1000)
			}
			time.Sleep(2100 * time.Millisecond) // gc_grace_seconds are 0
			for _, phase := range []string{"dead", "reopened"} {
				closeStore(b, q.s)
				q.open()
				q.head()
				b.ReportMetric(float64(q.taken[0].Microseconds()), phase+"-first-us")
				began, slow := time.Now(), time.Duration(0)
				for time.Since(began) < 3*time.Second {
					if q.head(); q.taken[len(q.taken)-1] > 5*time.Millisecond {
						slow = time.Since(began)
					}
				}
				b.ReportMetric(float64(slow.Milliseconds()), phase+"-slow-ms")
				q.taken = nil
				for range 2000 {
					q.put(1)
					q.take()
				}
				q.report(phase)
			}
			closeStore(b, q.s)
			b.ReportMetric(0, "ns/op")
		})
	}
}

// benchQueue is a queue in one partition.
type benchQueue struct {
	*testing.B
	dir         string
	reverse     bool // messages are put in front of the first row
	s           *Store
	t           *schema.Table
	first, next int64 // messages
	taken       []time.Duration
}

func (q *benchQueue) open() {
	q.s, q.t = openSweeping(q.B, q.dir, time.Hour)
	q.taken = nil
}

// row is the clustering key of a message.
func (q *benchQueue) row(i int64) [][]byte {
	if q.reverse {
		i = -i
	}
	return [][]byte{types.EncodeBigInt(i)}
}

func (q *benchQueue) change(from, to int64, change func(*Mutation)) {
	m := NewMutation(q.t, types.EncodeBigInt(1))
	m.At(q.s.Now().Unix())
	for i := from; i < to; i++ {
		m.Row(q.row(i))
		change(m)
	}
	if err := apply(q.s, m); err != nil {
		q.Fatal(err)
	}
}

// put adds messages.
func (q *benchQueue) put(n int64) {
	q.change(q.next, q.next+n, func(m *Mutation) {
		m.Mark(q.s.Timestamp(), Expiry{})
		m.Set(q.t.Regular[0], bytes.Repeat([]byte("m"), 64), q.s.Timestamp(), Expiry{})
	})
	q.next += n
}

// delete deletes messages from the head on.
func (q *benchQueue) delete(n int64) {
	q.change(q.first, q.first+n, func(m *Mutation) { m.DeleteRow(q.s.Timestamp()) })
	q.first += n
}

// head reads the first message.
func (q *benchQueue) head() {
	began := time.Now()
	var head []byte
	err := q.s.Read(context.Background(), &Read{
		Table: q.t, Keys: [][]byte{types.EncodeBigInt(1)}, Now: q.s.Now().Unix(), Reverse: q.reverse,
	}, func(r *Row) (bool, error) {
		head = bytes.Clone(r.Values[1])
		return false, nil
	})
	q.taken = append(q.taken, time.Since(began))
	if err != nil || !bytes.Equal(head, q.row(q.first)[0]) {
		q.Fatalf("the head is %x instead of %d, %v", head, q.first, err)
	}
}

// take reads the first message and deletes it.
func (q *benchQueue) take() {
	q.head()
	q.delete(1)
}

// report reports how long reads of the head took.
func (q *benchQueue) report(phase string) {
	slices.Sort(q.taken)
	n := len(q.taken)
	q.ReportMetric(float64(q.taken[n/2].Nanoseconds())/1e3, phase+"-p50-us")
	q.ReportMetric(float64(q.taken[n*999/1000].Nanoseconds())/1e3, phase+"-p999-us")
	q.ReportMetric(float64(q.taken[n-1].Nanoseconds())/1e3, phase+"-most-us")
	q.taken = nil
}
