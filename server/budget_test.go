package server_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/store"
)

// The reader stops a read that turns out to be long, by its rows or by their bytes, and it begins again in a
// goroutine. The answers do not show that.
func TestReadsWithBudget(t *testing.T) {
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, cqltest.WithSettings(map[string]string{
		"read_consistency_levels_warned": "ONE", "guardrails_apply_to_all": "true",
	}))
	fill(t, s, wideRows, wideValue)
	for _, v := range []protocol.Version{protocol.V3, protocol.V4, protocol.V5} {
		b := budgetTest{T: t, engine: e, c: connect(t, s, client.Options{Version: v})}
		const rows = 15 * store.RowsPerStep // the first step is the partition's
		b.try("SELECT c FROM ks.wide WHERE p = 1 LIMIT ?", rows)
		b.try("SELECT c, v FROM ks.wide WHERE p = 1 LIMIT ?", 64<<10/(wideValue+12))
		b.try("SELECT c FROM ks.wide WHERE p = 1 AND n >= 0 LIMIT ? ALLOW FILTERING", rows)
		b.try("SELECT c FROM ks.wide LIMIT ?", 16*store.RowsPerStep)
	}
}

// Rows of the partition, and the bytes of a value in each.
const wideRows, wideValue = 2000, 1000

type budgetTest struct {
	*testing.T
	engine *heldEngine
	c      *client.Conn
}

// try reads by a statement. It repeats that if the budget has another number of rows than about so many: the time is
// over sooner where other work has the processor.
func (b *budgetTest) try(text string, budget int) {
	b.Helper()
	p := prepare(b.T, b.c, text, "")
	var err error
	for range 20 {
		if err = b.read(p, budget); err == nil {
			return
		}
	}
	b.Errorf("%v: %s: %v", b.c.Version(), text, err)
}

// read counts the keys that the engine reads for a few rows and for many.
func (b *budgetTest) read(p *client.Prepared, budget int) error {
	b.Helper()
	if n := b.keys(p, 50); n != 50 {
		return fmt.Errorf("50 rows are found at %d keys", n)
	}
	if n := b.keys(p, wideRows); n < wideRows+budget-store.RowsPerStep || n > wideRows+budget+store.RowsPerStep {
		return fmt.Errorf("%d keys were read for %d rows, with %d in the budget", n, wideRows, budget)
	}
	return nil
}

// keys reads the first rows of the partition, and returns the number of keys that scans have read.
func (b *budgetTest) keys(p *client.Prepared, rows int) int {
	b.Helper()
	before := b.engine.keys.Load()
	a, err := executeID(b.T, b.c, p.ID, p.ResultMetadataID, 0, intValue(rows))
	if err != nil {
		b.Fatal(err)
	}
	got := a.Response.(*protocol.Rows)
	last := append(types.EncodeInt(4), types.EncodeInt(int32(rows-1))...)
	if got.Count != rows || !bytes.Contains(got.Cells, last) {
		b.Fatalf("%v: %d rows for %d, or not the last one", b.c.Version(), got.Count, rows)
	}
	if b.c.Version() >= protocol.V4 && len(a.Prefix.Warnings) != 1 {
		b.Errorf("%v: warnings: %q", b.c.Version(), a.Prefix.Warnings)
	}
	return int(b.engine.keys.Load() - before)
}
