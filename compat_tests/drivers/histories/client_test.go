package histories

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// One in plainShare clients writes without conditions, to a separate partition: -1, -2 and so on.
const plainShare = 4

// statements are the requests as CQL.
var statements = [...]string{
	insert: "INSERT INTO h.t (k, c, v) VALUES (?, ?, ?) IF NOT EXISTS",
	update: "UPDATE h.t SET v = ? WHERE k = ? AND c = ? IF v = ?",
	remove: "DELETE FROM h.t WHERE k = ? AND c = ? IF EXISTS",
	swap: "BEGIN BATCH UPDATE h.t SET v = ? WHERE k = ? AND c = 0 IF v = ?; " +
		"UPDATE h.t SET v = ? WHERE k = ? AND c = 1 IF v = ?; APPLY BATCH",
	read: "SELECT c, v FROM h.t WHERE k = ?",
}

// recorder keeps the requests of all clients and their answers.
type recorder struct {
	began     time.Time
	values    atomic.Int64 // written so far: each is another one
	mu        sync.Mutex
	histories map[int][]porcupine.Operation // by number: of the keys from number * *keys on
	applied   int                           // writes, in histories that were checked
	requests  int                           // in these
	undecided int                           // partitions, in these
}

func (r *recorder) add(o porcupine.Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := o.Input.(request).key / *keys
	r.histories[n] = append(r.histories[n], o)
}

// worker is a client of the partitions of some histories.
type worker struct {
	id        int
	recorder  *recorder
	random    *rand.Rand
	histories []int // whose partitions it uses
	conn      *client.Conn
	other     *client.Conn // to another node, if there are several
	absent    bool         // it could not connect
	prepared  [len(statements)]*client.Prepared
	seen      map[int]partition // the last known states of the partitions
}

// create makes the table.
func create(ctx context.Context, addr string) error {
	c, err := client.Dial(ctx, addr, client.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	for _, text := range []string{
		"CREATE KEYSPACE h WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE h.t (k int, c int, v int, PRIMARY KEY (k, c))",
	} {
		if _, err := c.Query(ctx, text, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// connect opens the connections and prepares the statements.
func (w *worker) connect(ctx context.Context, addr, other string) (err error) {
	if w.conn, err = client.Dial(ctx, addr, client.Options{}); err != nil {
		return err
	}
	if w.other, err = client.Dial(ctx, other, client.Options{}); err != nil {
		return err
	}
	for i, text := range statements {
		if w.prepared[i], err = w.conn.Prepare(ctx, text, ""); err != nil {
			return err
		}
	}
	return nil
}

// disconnect closes the connections.
func (w *worker) disconnect() {
	for _, c := range []*client.Conn{w.conn, w.other} {
		if c != nil {
			c.Close()
		}
	}
}

// run sends requests until the time is over or the server is gone. dying reports whether the server may be gone.
func (w *worker) run(ctx context.Context, end time.Time, dying func() bool) error {
	for time.Now().Before(end) {
		r := w.choose()
		call := time.Since(w.recorder.began)
		a, err := w.send(ctx, r)
		back := int64(time.Since(w.recorder.began))
		if err != nil {
			if !dying() && !isUnknown(err) {
				return fmt.Errorf("%s: %w", describe(r, a), err)
			}
			a, back = answer{unknown: true}, math.MaxInt64
		}
		if err == nil || r.kind != read {
			w.recorder.add(porcupine.Operation{ClientId: w.id, Input: r, Output: a, Call: int64(call), Return: back})
		}
		if err != nil && !isUnknown(err) {
			return nil
		}
		w.learn(r, a)
	}
	return nil
}

func unless(expected bool, err error) error {
	if expected {
		return nil
	}
	return err
}

// isUnknown reports whether the server itself does not know the outcome of a write.
func isUnknown(err error) bool {
	var e *cqlerr.Error
	return errors.As(err, &e) && (e.Code == cqlerr.CASWriteUnknown || e.Code == cqlerr.WriteTimeout)
}

// choose draws a request. Most conditions are the last known values.
func (w *worker) choose() request {
	history := w.histories[w.random.IntN(len(w.histories))]
	r := request{
		kind: kind(w.random.IntN(len(statements))), key: history**keys + w.random.IntN(*keys), row: w.random.IntN(rowsEach),
	}
	if w.random.IntN(3) == 0 {
		r.kind = update
	}
	r.if_ = w.seen[r.key]
	for row := range r.to {
		if r.kind != remove && r.kind != read && r.touches(row) {
			r.to[row] = int(w.recorder.values.Add(1))
		}
	}
	return r
}

// learn updates the last known state of the partition.
func (w *worker) learn(r request, a answer) {
	seen := w.seen[r.key]
	for row := range r.to {
		switch {
		case a.unknown || !r.touches(row):
		case a.applied:
			seen[row] = r.to[row]
		default:
			seen[row] = a.shown[row]
		}
	}
	w.seen[r.key] = seen
}

// send sends a request and decodes the answer.
func (w *worker) send(ctx context.Context, r request) (a answer, err error) {
	key := number(r.key)
	row := number(r.row)
	var values []types.Value
	switch r.kind {
	case insert:
		values = []types.Value{key, row, number(r.to[r.row])}
	case update:
		values = []types.Value{number(r.to[r.row]), key, row, orNull(r.if_[r.row])}
	case remove:
		values = []types.Value{key, row}
	case swap:
		values = []types.Value{number(r.to[0]), key, orNull(r.if_[0]), number(r.to[1]), key, orNull(r.if_[1])}
	case read:
		values = []types.Value{key}
	}
	o := &client.QueryOptions{Consistency: cqlerr.Quorum}
	if r.kind == read {
		o.Consistency = cqlerr.Serial
	}
	result, err := w.conn.Execute(ctx, w.prepared[r.kind], values, o)
	if err != nil {
		return a, err
	}
	for _, cells := range result.Rows {
		at, value := r.row, 0
		for i, column := range result.Columns {
			switch column.Name {
			case "[applied]":
				a.applied = cells[i][0] == 1
			case "c":
				at = int(binary.BigEndian.Uint32(cells[i]))
			case "v":
				if cells[i] != nil {
					value = int(binary.BigEndian.Uint32(cells[i]))
				}
			}
		}
		a.shown[at] = value
	}
	return a, nil
}

func number(n int) types.Value { return types.Value{Bytes: types.EncodeInt(int32(n))} }

// orNull is null where there is no row.
func orNull(n int) types.Value {
	if n == 0 {
		return types.Value{}
	}
	return number(n)
}

// runPlain writes to a separate partition without conditions, and reads its writes.
func (w *worker) runPlain(ctx context.Context, key int, end time.Time, dying func() bool) error {
	c := w.conn
	for i := 1; time.Now().Before(end); i++ {
		text := fmt.Sprintf("INSERT INTO h.t (k, c, v) VALUES (%d, 0, %d)", key, i)
		if i%5 == 0 {
			text = fmt.Sprintf("DELETE FROM h.t WHERE k = %d", key)
		}
		if _, err := c.Query(ctx, text, nil, nil); err != nil {
			return unless(dying(), err)
		}
		got, err := w.other.Query(ctx, fmt.Sprintf("SELECT v FROM h.t WHERE k = %d", key), nil, nil)
		if err != nil {
			return unless(dying(), err)
		}
		if i%5 == 0 && len(got.Rows) > 0 || i%5 != 0 && (len(got.Rows) != 1 || binary.BigEndian.Uint32(got.Rows[0][0]) != uint32(i)) {
			return fmt.Errorf("after %s key %d has %v", text, key, got.Rows)
		}
	}
	return nil
}
