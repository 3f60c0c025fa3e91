package cqltest

import (
	"context"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// TestOneClock asks for all that depends on the time, with a clock that stands still.
func TestOneClock(t *testing.T) {
	s := RunT(t)
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	s.Clock().Freeze()
	s.Clock().Set(at)
	s.Exec(t, createShop, `CREATE TABLE shop.t (k int PRIMARY KEY, v text, w timestamp)
		WITH gc_grace_seconds = 3600`, "INSERT INTO shop.t (k, v, w) VALUES (1, 'a', 'now') USING TTL 60")
	ctx := context.Background()
	c, err := client.Dial(ctx, s.Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	row := func() [][]byte {
		t.Helper()
		r, err := c.Query(ctx, `SELECT w, writetime(v), ttl(v), to_timestamp(now()), current_timestamp()
			FROM shop.t WHERE k = 1`, nil, nil)
		if err != nil || len(r.Rows) > 1 {
			t.Fatal(r, err)
		}
		if len(r.Rows) == 0 {
			return nil
		}
		return r.Rows[0]
	}
	s.Clock().Advance(10 * time.Second)
	got := row()
	for i, want := range []int64{0: at.UnixMilli(), 3: at.UnixMilli() + 10_000, 4: at.UnixMilli() + 10_000} {
		if want != 0 && types.DecodeBigInt(got[i]) != want {
			t.Errorf("column %d is %d, want %d", i, types.DecodeBigInt(got[i]), want)
		}
	}
	if ts := types.DecodeBigInt(got[1]); ts < at.UnixMicro() || ts > at.UnixMicro()+1000 {
		t.Errorf("the write time is %d, the clock shows %d", ts, at.UnixMicro())
	}
	if ttl := types.DecodeInt(got[2]); ttl != 50 {
		t.Errorf("the TTL is %d", ttl)
	}
	s.Clock().Advance(50 * time.Second)
	if got := row(); got != nil {
		t.Errorf("the row is still there: %q", got)
	}

	removed := s.store.SweepMetrics().Removed
	for _, step := range []struct {
		after time.Duration
		gone  bool
	}{{50 * time.Minute, false}, {20 * time.Minute, true}} {
		s.Clock().Advance(step.after)
		if err := s.store.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if gone := s.store.SweepMetrics().Removed > removed; gone != step.gone {
			t.Errorf("purged %v at %v, want %v", gone, s.Clock().Now(), step.gone)
		}
	}

	// Timestamps do not go back with the clock, so what is written last counts.
	s.Exec(t, "INSERT INTO shop.t (k, v) VALUES (1, 'late')")
	s.Clock().Set(at.Add(-time.Hour))
	s.Exec(t, "UPDATE shop.t SET v = 'early' WHERE k = 1")
	r, err := c.Query(ctx, "SELECT v FROM shop.t WHERE k = 1", nil, nil)
	if err != nil || len(r.Rows) != 1 || string(r.Rows[0][0]) != "early" {
		t.Errorf("%q, %v", r.Rows, err)
	}
}

// TestHourPasses takes a TTL of an hour to its end. BenchmarkHour has the time that it takes.
func TestHourPasses(t *testing.T) {
	s := RunT(t)
	s.Exec(t, createShop, "CREATE TABLE shop.t (k int PRIMARY KEY)", "INSERT INTO shop.t (k) VALUES (1) USING TTL 3600")
	for _, want := range []int{1, 0} {
		if n := len(s.Query(t, "SELECT k FROM shop.t").Values); n != want {
			t.Errorf("%d rows, want %d", n, want)
		}
		s.Clock().Advance(time.Hour)
	}
}

// BenchmarkHour writes a row with a TTL of an hour, has the hour go by and sees that the row is gone.
func BenchmarkHour(b *testing.B) {
	s := RunT(b)
	s.Exec(b, createShop, "CREATE TABLE shop.t (k int PRIMARY KEY)")
	c, err := client.Dial(b.Context(), s.Addr(), client.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for b.Loop() {
		for _, text := range []string{"INSERT INTO shop.t (k) VALUES (1) USING TTL 3600", "SELECT k FROM shop.t WHERE k = 1"} {
			r, err := c.Query(b.Context(), text, nil, nil)
			if err != nil || len(r.Rows) != 0 {
				b.Fatal(r, err)
			}
			s.Clock().Advance(time.Hour)
		}
	}
}
