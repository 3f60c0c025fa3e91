package nodes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

const (
	writers        = 24
	maxJump        = 5 * time.Second // PD's default tso-save-interval
	roundsPerJump  = 3               // of each writer between two transfers, on average
	transfersShort = 3
	transfersFull  = 20
)

// TestTransfer changes the leader of the cluster's clock again and again under clients that write everything, each
// statement on another node than the one before. A clock that is taken to run after its jump, while it stands, makes
// acknowledged writes vanish: later ones get earlier timestamps.
func TestTransfer(t *testing.T) {
	transfers := transfersShort
	if os.Getenv("TEST_CQLD_FULL") != "" {
		transfers = transfersFull
	}
	c := RunT(t, 3, Options{Lag: 130 * time.Millisecond})
	w := newTransferWriter(t, c, 0)
	for _, text := range []string{
		"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.t (id int, c int, v bigint, l list<bigint>, PRIMARY KEY (id, c))",
		"CREATE TABLE k.counts (id int PRIMARY KEY, n counter)",
		"INSERT INTO k.t (id, c, v) VALUES (-1, 0, 0)",
		"INSERT INTO k.t (id, c, v) VALUES (-1, 1, 0)",
	} {
		if _, err := w.query(text); err != nil {
			t.Fatal(err)
		}
	}
	var stopped atomic.Bool
	var rounds, applied atomic.Int64
	var running sync.WaitGroup
	failed := make(chan error, writers)
	for i := range writers {
		w := newTransferWriter(t, c, i)
		running.Go(func() {
			for !stopped.Load() {
				if err := w.round(&applied); err != nil {
					failed <- fmt.Errorf("writer %d, round %d: %w", i, w.rounds, err)
					return
				}
				rounds.Add(1)
			}
		})
	}
	await := func(n int64) {
		for rounds.Load() < n {
			select {
			case err := <-failed:
				stopped.Store(true)
				running.Wait()
				t.Fatal(err)
			case <-time.After(time.Millisecond):
			}
		}
	}
	for range transfers {
		await(rounds.Load() + roundsPerJump*writers)
		c.Clock.Transfer(rand.N(maxJump))
	}
	await(rounds.Load() + roundsPerJump*writers)
	stopped.Store(true)
	running.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	sum := int64(0)
	for i := range 2 {
		n, err := w.number(fmt.Sprintf("SELECT v FROM k.t WHERE id = -1 AND c = %d", i))
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if sum != applied.Load() {
		t.Errorf("%d additions were applied to two rows whose sum is %d", applied.Load(), sum)
	}
	t.Logf("%d transfers, %d rounds of writes, %d additions", transfers, rounds.Load(), applied.Load())
}

// TestFarTimestamp has a decision read a client's timestamp that the clock reaches in an hour, and next to it one that
// it reaches within a lease. Only the first one may shadow the decision.
func TestFarTimestamp(t *testing.T) {
	c := RunT(t, 2, Options{Lease: time.Second})
	w := newTransferWriter(t, c, 0)
	for _, text := range []string{
		"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.t (id int, c int, v bigint, w bigint, PRIMARY KEY (id, c))",
	} {
		if _, err := w.query(text); err != nil {
			t.Fatal(err)
		}
	}
	near, far := time.Now().Add(700*time.Millisecond), time.Now().Add(time.Hour)
	for _, s := range []step{
		{fmt.Sprintf("UPDATE k.t USING TIMESTAMP %d SET w = 1 WHERE id = 0 AND c = 0", far.UnixMicro()), -1},
		{fmt.Sprintf("UPDATE k.t USING TIMESTAMP %d SET v = 1 WHERE id = 0 AND c = 0", near.UnixMicro()), 1},
		{"UPDATE k.t SET v = 2 WHERE id = 0 AND c = 0 IF v = 1", 2},
		{"UPDATE k.t SET v = 3 WHERE id = 0 AND c = 0 IF v = 2", 3},
	} {
		if err := w.write(0, s); err != nil {
			t.Fatal(err)
		}
	}
}

// transferWriter is a client that has rows of its own, and adds to rows that all share.
type transferWriter struct {
	id     int
	conns  []*client.Conn // to all nodes
	next   int
	rounds int64
}

func newTransferWriter(t *testing.T, c *Cluster, id int) *transferWriter {
	w := &transferWriter{id: id, next: id}
	for _, n := range c.Nodes() {
		conn, err := client.Dial(t.Context(), n.Addr(), client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		w.conns = append(w.conns, conn)
	}
	return w
}

// query runs a statement on the next node.
func (w *transferWriter) query(text string) (*client.Result, error) {
	w.next++
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	result, err := w.conns[w.next%len(w.conns)].Query(ctx, text, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return result, nil
}

// number is the only value that a statement selects, or -1.
func (w *transferWriter) number(text string) (int64, error) {
	result, err := w.query(text)
	if err != nil || len(result.Rows) == 0 || result.Rows[0][0] == nil {
		return -1, err
	}
	return types.DecodeBigInt(result.Rows[0][0]), nil
}

// write runs statements, and reads after each of them, on another node, whether it has had its effect.
func (w *transferWriter) write(row int, steps ...step) error {
	for _, s := range steps {
		result, err := w.query(s.text)
		if err != nil {
			return err
		}
		if len(result.Rows) > 0 && result.Rows[0][0][0] == 0 {
			return fmt.Errorf("%s was not applied", s.text)
		}
		has, err := w.number(fmt.Sprintf("SELECT v FROM k.t WHERE id = %d AND c = %d", w.id, row))
		if err != nil {
			return err
		}
		if has != s.leaves {
			return fmt.Errorf("shadowed: after %s the row has %d, not %d", s.text, has, s.leaves)
		}
	}
	return nil
}

// step is a statement, and the value that it leaves in the row; -1: none.
type step struct {
	text   string
	leaves int64
}

// round writes everything once.
func (w *transferWriter) round(applied *atomic.Int64) error {
	w.rounds++
	n := w.rounds * 10
	at := func(format string, args ...any) string { return fmt.Sprintf(format, append([]any{w.id}, args...)...) }
	plain := w.write(0,
		step{at("INSERT INTO k.t (id, c, v) VALUES (%d, 0, %d)", n), n},
		step{at("DELETE FROM k.t WHERE id = %d AND c = 0"), -1},
		step{at("INSERT INTO k.t (id, c, v) VALUES (%d, 0, %d)", n+1), n + 1})
	stamped := w.write(1, step{
		at("INSERT INTO k.t (id, c, v) VALUES (%d, 1, %d) USING TIMESTAMP %d", n, time.Now().UnixMicro()), n,
	})
	// The row of each round is another one: after a jump, what the clock has stamped is later than the client's time.
	fresh := int(w.rounds) + 100
	first := w.write(fresh, step{at("INSERT INTO k.t (id, c, v) VALUES (%d, %d, 1) IF NOT EXISTS", fresh), 1})
	after := w.write(fresh, step{
		at("INSERT INTO k.t (id, c, v) VALUES (%d, %d, 2) USING TIMESTAMP %d", fresh, time.Now().UnixMicro()), 2,
	})
	mixed := w.write(2,
		step{at("INSERT INTO k.t (id, c, v) VALUES (%d, 2, %d)", n), n},
		step{at("UPDATE k.t SET v = %[2]d WHERE id = %[1]d AND c = 2 IF v = %[3]d", n+1, n), n + 1},
		step{at("INSERT INTO k.t (id, c, v) VALUES (%d, 2, %d)", n+2), n + 2},
		step{at("UPDATE k.t SET v = %[2]d, l = l + [%[2]d] WHERE id = %[1]d AND c = 2 IF v = %[3]d", n+3, n+2), n + 3},
		step{at("DELETE FROM k.t WHERE id = %d AND c = 2 IF EXISTS"), -1},
		step{at("INSERT INTO k.t (id, c, v) VALUES (%d, 2, %d) IF NOT EXISTS", n+4), n + 4})
	batch := w.write(3,
		step{at("BEGIN BATCH INSERT INTO k.t (id, c, v) VALUES (%[1]d, 3, %[2]d); "+
			"INSERT INTO k.t (id, c, v) VALUES (%[3]d, 3, %[2]d); APPLY BATCH", n, w.id+1000), n},
		step{at("BEGIN BATCH DELETE FROM k.t WHERE id = %[1]d AND c = 3; APPLY BATCH"), -1})
	return errors.Join(plain, stamped, first, after, mixed, batch, w.grow(), w.count(), w.add(applied))
}

// grow appends to a list, on one node after the other, and reads it.
func (w *transferWriter) grow() error {
	for _, n := range []int{0, 6} {
		elements := fmt.Sprint(n, ", ", n+1, ", ", n+2, ", ", n+3, ", ", n+4, ", ", n+5)
		text := fmt.Sprintf("UPDATE k.t SET l = l + [%s] WHERE id = %d AND c = 4", elements, w.id)
		if n == 0 {
			text = fmt.Sprintf("UPDATE k.t SET l = [%s] WHERE id = %d AND c = 4", elements, w.id)
		}
		if _, err := w.query(text); err != nil {
			return err
		}
	}
	result, err := w.query(fmt.Sprintf("SELECT l FROM k.t WHERE id = %d AND c = 4", w.id))
	if err != nil {
		return err
	}
	const want = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]"
	if got := result.Columns[0].Type.Format(result.Rows[0][0]); got != want {
		return fmt.Errorf("the list is %s, not %s", got, want)
	}
	return nil
}

// count adds to the writer's counter, and reads it.
func (w *transferWriter) count() error {
	if _, err := w.query(fmt.Sprintf("UPDATE k.counts SET n = n + 1 WHERE id = %d", w.id)); err != nil {
		return err
	}
	n, err := w.number(fmt.Sprintf("SELECT n FROM k.counts WHERE id = %d", w.id))
	if err == nil && n != w.rounds {
		err = fmt.Errorf("the counter is %d after %d additions", n, w.rounds)
	}
	return err
}

// add tries to add one to a row that all writers share, on a node that need not be the one that it has read on.
func (w *transferWriter) add(applied *atomic.Int64) error {
	row := w.id % 2
	n, err := w.number(fmt.Sprintf("SELECT v FROM k.t WHERE id = -1 AND c = %d", row))
	if err != nil {
		return err
	}
	result, err := w.query(fmt.Sprintf("UPDATE k.t SET v = %d WHERE id = -1 AND c = %d IF v = %d", n+1, row, n))
	if err == nil && result.Rows[0][0][0] == 1 {
		applied.Add(1)
	}
	return err
}
