package tikv

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/tikv/client-go/v2/oracle"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// collecting opens an engine that collects.
func collecting(t *testing.T, c *tikvtest.Cluster, prefix string) *Engine {
	t.Helper()
	e, err := Open(c.Connect(t), Options{Prefix: prefix, Log: zerolog.Nop()}, enginetest.Union)
	must(t, err)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// point is the safe point in PD.
func point(t *testing.T, e *Engine) uint64 {
	t.Helper()
	now, err := e.cluster.GetPDClient().UpdateGCSafePoint(t.Context(), 0)
	must(t, err)
	return now
}

// TestCollection has one of two engines of different prefixes move the safe point, and not beyond what a view of either
// reads.
func TestCollection(t *testing.T) {
	c := tikvtest.New(t, 1)
	first, second := collecting(t, c, "test"), collecting(t, c, "other")
	must(t, commit(first, put("a", "1")))
	must(t, commit(second, put("a", "1")))
	must(t, second.View(func(r engine.Reader) error {
		ts := r.(*view).ts
		// As it is when it has become long.
		pd := second.cluster.GetPDClient()
		if _, err := pd.UpdateServiceGCSafePoint(t.Context(), second.serviceName(), 60, ts); err != nil {
			return err
		}
		must(t, commit(second, put("a", "2")))
		must(t, first.collect(t.Context(), 0))
		if got := point(t, first); got == 0 || got > ts {
			t.Errorf("the safe point is %d while a view reads at %d", got, ts)
		}
		expect(t, "view", value(t, r, "a"), "1")
		return nil
	}))
	before := point(t, first)
	must(t, second.collect(t.Context(), 0)) // the other one has the lease
	if point(t, first) != before {
		t.Error("an engine without the lease has moved the safe point")
	}
	must(t, second.release(t.Context()))
	now, err := first.now()
	must(t, err)
	must(t, first.collect(t.Context(), 0))
	got := point(t, first)
	if oracle.ExtractPhysical(got) < oracle.ExtractPhysical(now) {
		t.Errorf("the safe point is %d after the view, want %d at least", got, now)
	}
	if all := first.Gauges(); len(all) != 2 || all[1].Value != 0 || all[0].Value != float64(oracle.ExtractPhysical(got))/1000 {
		t.Errorf("the metrics are %v, and the safe point is %d", all, got)
	}
	expect(t, "a", value(t, second, "a"), "2")
}

// TestCollectionOfOthers leaves the safe point to others that move it, and takes it over when they are gone.
func TestCollectionOfOthers(t *testing.T) {
	c := tikvtest.New(t, 1)
	e := collecting(t, c, "test")
	must(t, e.collect(t.Context(), time.Hour))
	own := point(t, e)
	if own == 0 {
		t.Fatal("the safe point does not move")
	}

	// Somebody else goes further than any engine has.
	pd := e.cluster.GetPDClient()
	now, err := e.now()
	must(t, err)
	theirs := oracle.ComposeTS(oracle.ExtractPhysical(now)-time.Minute.Milliseconds(), 0)
	_, err = pd.UpdateServiceGCSafePoint(t.Context(), collector, math.MaxInt64, theirs)
	must(t, err)
	_, err = pd.UpdateGCSafePoint(t.Context(), theirs)
	must(t, err)
	must(t, e.collect(t.Context(), 0))
	if got := point(t, e); got != theirs {
		t.Errorf("the safe point is %d, and somebody else moves it, to %d", got, theirs)
	}

	// What is a day old is nobody's.
	txn, err := e.begin()
	must(t, err)
	later := oracle.ExtractPhysical(now) + 25*time.Hour.Milliseconds()
	if others, err := e.othersCollect(txn, own, theirs, later); others || err != nil {
		t.Errorf("a safe point that nobody moves is somebody's: %v, %v", others, err)
	}

	// A TiDB is there before it moves anything.
	must(t, txn.Set(append(tidbKey, 0, 0, 0, 0, 0, 0, 0, 's'), []byte("1")))
	must(t, txn.Commit(t.Context()))
	if txn, err = e.begin(); err == nil {
		others, err := e.othersCollect(txn, theirs, theirs, later)
		if !others || err != nil {
			t.Errorf("a TiDB is not noticed: %v, %v", others, err)
		}
	}
	must(t, err)
	if want := "mBootstra\xffpKey\x00\x00\x00\x00\xfb"; string(tidbKey) != want {
		t.Errorf("the key of a TiDB begins with %q, want %q", tidbKey, want)
	}
}

// TestStalledSafePoint warns once when the safe point does not move for two periods, and says when it moves again.
func TestStalledSafePoint(t *testing.T) {
	var log bytes.Buffer
	var s safePoint
	begin := time.Now()
	stalled := ""
	for i, p := range []uint64{0, 0, 0, 0, 5, 6, 6, 6, 6} {
		s.note(p, begin.Add(time.Duration(i)*time.Minute), time.Minute, zerolog.New(&log))
		stalled += map[bool]string{true: "s", false: "-"}[s.stalled]
	}
	if want := "--ss---ss"; stalled != want {
		t.Errorf("it is stalled at %s, want %s", stalled, want)
	}
	if n := strings.Count(log.String(), "not collected"); n != 2 || strings.Count(log.String(), "again") != 1 {
		t.Errorf("the log has\n%s", &log)
	}
}
