package store

import (
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
	"github.com/cqld/cqld/store/rows"
)

// TestSeenRows reads keys in several ways, and asks which keys were seen and what the newest timestamp is.
func TestSeenRows(t *testing.T) {
	e := memory.Open(rows.Fold)
	defer e.Close()
	row := func(key string, marker, cell int64) engine.Op {
		w := rows.Writer{Head: rows.NoHead}
		w.Marker.Timestamp = marker
		w.WriteCell(&rows.Cell{Column: 1, Timestamp: cell, Value: []byte("v")})
		return engine.Op{Kind: engine.Put, Key: append(rows.AppendArea(nil, 7, rows.AreaRows), key...), Value: w.Finish()}
	}
	tombstone := engine.Op{
		Kind: engine.Put, Key: append(rows.AppendArea(nil, 7, rows.AreaTombstones), "t"...),
		Value: rows.Tombstone{Timestamp: 40}.Append(nil),
	}
	ops := []engine.Op{row("a", 10, 20), row("b", 30, 5), row("c", 1, 2), tombstone}
	e.Commit(ops, func(err error) {
		if err != nil {
			t.Error(err)
		}
	})
	at := func(name string) []byte { return append(rows.AppendArea(nil, 7, rows.AreaRows), name...) }
	scan := func(r engine.Reader, stop string, reverse bool) {
		err := r.Scan(at("a"), at("d"), engine.ScanOptions{Reverse: reverse}, func(key, _ []byte) (bool, error) {
			return string(key) != string(at(stop)), nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	ignore := func([]byte) error { return nil }
	for _, c := range []struct {
		name   string
		limit  int64
		read   func(engine.Reader)
		newest int64
		future bool
		seen   string // the names that were seen, of those from a to e
	}{
		{"a row", 100, func(r engine.Reader) { _, _ = r.Get(at("a"), ignore) }, 20, false, "a"},
		{"a missing row", 100, func(r engine.Reader) { _, _ = r.Get(at("e"), ignore) }, rows.NoTimestamp, false, "e"},
		{"all rows of a range", 100, func(r engine.Reader) { scan(r, "", false) }, 30, false, "abc"},
		{"the first rows", 100, func(r engine.Reader) { scan(r, "b", false) }, 30, false, "ab"},
		{"the last row", 100, func(r engine.Reader) { scan(r, "c", true) }, 2, false, "c"},
		{"a tombstone", 100, func(r engine.Reader) { _, _ = r.Get(tombstone.Key, ignore) }, 40, false, ""},
		{"a row with a later cell", 15, func(r engine.Reader) { _, _ = r.Get(at("a"), ignore) }, 10, true, "a"},
		{"a later tombstone", 39, func(r engine.Reader) { _, _ = r.Get(tombstone.Key, ignore) }, rows.NoTimestamp, true, ""},
		{"keys only", 100, func(r engine.Reader) {
			all := func(_, _ []byte) (bool, error) { return true, nil }
			_ = r.Scan(at("a"), at("d"), engine.ScanOptions{KeysOnly: true}, all)
		}, rows.NoTimestamp, false, ""},
	} {
		var s seenRows
		s.forget(e, c.limit)
		c.read(&s)
		seen := ""
		for _, name := range []string{"a", "b", "c", "e"} {
			if s.covers(nil, []engine.Op{{Kind: engine.Merge, Key: at(name)}}) {
				seen += name
			}
		}
		if seen != c.seen || s.newest != c.newest || s.future != c.future {
			t.Errorf("after %s: seen %q, the newest timestamp %d and later ones %v, want %q, %d and %v",
				c.name, seen, s.newest, s.future, c.seen, c.newest, c.future)
		}
		if s.covers(nil, []engine.Op{{Kind: engine.Merge, Key: tombstone.Key}}) {
			t.Errorf("after %s a tombstone may be written", c.name)
		}
	}
}
