package server_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/store"
)

// A read of a partition that turns out to be long, by its rows or by their bytes, begins again. The next ones do not
// begin twice, until reads of the statement have been short for a while. Nothing of that shows in the answers.
func TestBriefReads(t *testing.T) {
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, cqltest.WithSettings(map[string]string{
		"read_consistency_levels_warned": "ONE", "guardrails_apply_to_all": "true",
	}))
	fill(t, s, briefRows, briefSize)
	for _, v := range []protocol.Version{protocol.V3, protocol.V4, protocol.V5} {
		b := briefTest{T: t, engine: e, c: connect(t, s, client.Options{Version: v})}
		const rows = 15 * store.RowsPerStep // the first step is the partition's
		b.try("SELECT c FROM ks.wide WHERE p = 1 LIMIT ?", rows)
		b.try("SELECT c, v FROM ks.wide WHERE p = 1 LIMIT ?", 64<<10/(briefSize+12))
		b.try("SELECT c FROM ks.wide WHERE p = 1 AND n >= 0 LIMIT ? ALLOW FILTERING", rows)
	}
}

// Rows of the partition, and the bytes of a value in each.
const briefRows, briefSize = 2000, 1000

type briefTest struct {
	*testing.T
	engine *heldEngine
	c      *client.Conn
	texts  int
}

// try reads by a statement, of whose rows about so many fit into a brief turn. It tries again if it finds other
// numbers: turns are over sooner where other work has the processor.
func (b *briefTest) try(text string, brief int) {
	b.Helper()
	var err error
	for range 20 {
		if err = b.read(text, brief); err == nil {
			return
		}
	}
	b.Errorf("%v: %s: %v", b.c.Version(), text, err)
}

// read prepares the statement anew, and looks how many keys its reads come to.
func (b *briefTest) read(text string, brief int) error {
	b.Helper()
	b.texts++
	p := prepare(b.T, b.c, fmt.Sprintf("%s%s/* %v */", text, strings.Repeat(" ", b.texts), b.c.Version()), "")
	if n := b.keys(p, 50); n != 50 {
		return fmt.Errorf("50 rows are found at %d keys", n)
	}
	if n := b.keys(p, briefRows); n < briefRows+brief-store.RowsPerStep || n > briefRows+brief+store.RowsPerStep {
		return fmt.Errorf("%d keys were read for %d rows, of which %d are brief", n, briefRows, brief)
	}
	for range 63 {
		b.keys(p, 1)
	}
	if n := b.keys(p, briefRows); n != briefRows {
		return fmt.Errorf("%d keys were read for %d rows when reads were long of late", n, briefRows)
	}
	for range 64 {
		b.keys(p, 1)
	}
	if n := b.keys(p, briefRows); n < briefRows+brief-store.RowsPerStep {
		return fmt.Errorf("%d keys were read for %d rows when reads were short for a while", n, briefRows)
	}
	return nil
}

// keys reads the first rows of the partition, and returns to how many keys scans have come.
func (b *briefTest) keys(p *client.Prepared, rows int) int {
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
