package server_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server/cqltest"
)

// A read of a partition that turns out to be long, by its rows or by their bytes, begins again. The next ones do not
// begin twice, until reads of the statement have been short for a while. Nothing of that shows in the answers.
func TestBriefReads(t *testing.T) {
	const rows, size = 2000, 1000
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, cqltest.WithSettings(map[string]string{
		"read_consistency_levels_warned": "ONE", "guardrails_apply_to_all": "true",
	}))
	fill(t, s, rows, size)
	for _, v := range []protocol.Version{protocol.V3, protocol.V4, protocol.V5} {
		c := connect(t, s, client.Options{Version: v})
		for _, read := range []struct {
			text  string
			start int // how many rows the first attempt takes
		}{
			{"SELECT c FROM ks.wide WHERE p = 1 LIMIT ?", 15 * 32},
			{"SELECT c, v FROM ks.wide WHERE p = 1 LIMIT ?", 64 << 10 / (size + 12)},
			{"SELECT c FROM ks.wide WHERE p = 1 AND n >= 0 LIMIT ? ALLOW FILTERING", 15 * 32},
		} {
			p := prepare(t, c, read.text+strings.Repeat(" ", int(v)), "") // a statement of its own
			keys := func(limit int) int {
				t.Helper()
				before := e.keys.Load()
				a, err := executeID(t, c, p.ID, p.ResultMetadataID, 0, intValue(limit))
				if err != nil {
					t.Fatal(err)
				}
				got := a.Response.(*protocol.Rows)
				want := types.EncodeInt(int32(limit - 1))
				if last := bytes.LastIndex(got.Cells, append(types.EncodeInt(4), want...)); got.Count != limit || last < 0 {
					t.Fatalf("%v: %s gives %d rows for %d, or not the last one", v, read.text, got.Count, limit)
				}
				if v >= protocol.V4 && len(a.Prefix.Warnings) != 1 {
					t.Errorf("%v: warnings: %q", v, a.Prefix.Warnings)
				}
				return int(e.keys.Load() - before)
			}
			if n := keys(50); n != 50 {
				t.Errorf("%v: %s came to %d keys for 50 rows", v, read.text, n)
			}
			if n := keys(rows); n < rows+read.start-32 || n > rows+read.start+32 {
				t.Errorf("%v: %s came to %d keys, want %d twice and %d once", v, read.text, n, read.start, rows-read.start)
			}
			for range 63 {
				keys(1)
			}
			if n := keys(rows); n != rows {
				t.Errorf("%v: %s came to %d keys, want %d once", v, read.text, n, rows)
			}
			for range 64 {
				keys(1)
			}
			if n := keys(rows); n < rows+read.start-32 {
				t.Errorf("%v: %s came to %d keys, want some of them twice", v, read.text, n)
			}
		}
	}
}
