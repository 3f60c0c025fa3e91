package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// file makes a snapshot of keys and values, each in a block.
func file(t *testing.T, content map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	head, err := json.Marshal(Head{Format: Format})
	if err != nil {
		t.Fatal(err)
	}
	blocks := [][]byte{head}
	for _, key := range slices.Sorted(maps.Keys(content)) {
		block := append(binary.AppendUvarint(nil, uint64(len(key))), key...)
		block = append(binary.AppendUvarint(block, uint64(len(content[key]))), content[key]...)
		blocks = append(blocks, block)
	}
	for _, block := range blocks {
		if err := w.Block(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// kept is an engine that stays open after a restore.
type kept struct {
	engine.Engine
	updateError error
}

func (*kept) Close() error { return nil }

func (k *kept) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	if k.updateError != nil {
		done(k.updateError)
		return
	}
	k.Engine.Update(ctx, guards, fn, done)
}

func (k *kept) put(t *testing.T, content map[string]string) {
	t.Helper()
	for key, value := range content {
		if err := commitOne(k, engine.Op{Kind: engine.Put, Key: []byte(key), Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
	}
}

func (k *kept) content(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := k.Scan(nil, nil, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		all[string(key)] = string(value)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRestore restores into engines with different content, and from torn files.
func TestRestore(t *testing.T) {
	meta, failure := string(MetaKey), errors.New("the engine does not answer")
	snapshot := map[string]string{"\x00": "before", meta: "first record", "row 1": "a", "row 2": "b"}
	mark := string(binary.BigEndian.AppendUint32(nil, Incomplete))
	part := map[string]string{meta: mark, "row 3": "c", "\x00a": "d"} // of a restore that was killed
	other := map[string]string{meta: "another", "row 3": "c"}
	none := map[string]string{}
	foreign := map[string]string{"row 3": "c"}
	whole := file(t, snapshot)
	torn, headless := whole[:len(whole)-8], file(t, foreign)
	for _, c := range []struct {
		name        string
		file        []byte
		before      map[string]string
		updateError error
		after       map[string]string
		err         error
	}{
		{"into an empty engine", whole, none, nil, snapshot, nil},
		{"after one that was killed", whole, part, nil, snapshot, nil},
		{"into other data", whole, other, nil, other, errNotEmpty},
		{"into foreign keys", whole, foreign, nil, foreign, errNotEmpty},
		{"into an engine that does not answer", whole, other, failure, other, failure},
		{"of a torn file", torn, none, nil, none, errTorn},
		{"of a torn file after one that was killed", torn, part, nil, none, errTorn},
		{"of a file without the first record", headless, none, nil, none, errBlock},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e *kept
			open := func(fold engine.Fold) (engine.Engine, error) {
				e = &kept{Engine: memory.Open(fold)}
				e.put(t, c.before)
				e.updateError = c.updateError
				return e, nil
			}
			done, err := Restore(t.Context(), bytes.NewReader(c.file), open, func(Restored) {})
			if !errors.Is(err, c.err) {
				t.Errorf("the restore ends with %v, want %v", err, c.err)
			}
			if got := e.content(t); !maps.Equal(got, c.after) {
				t.Errorf("the engine has %q, want %q", got, c.after)
			}
			if err == nil && done.Keys != int64(len(c.after)) {
				t.Errorf("%d keys are counted, want %d", done.Keys, len(c.after))
			}
		})
	}
}

// TestFirstRecordIsLast checks the order of commits: no store can open the data before all of it is there.
func TestFirstRecordIsLast(t *testing.T) {
	rows := map[string]string{string(MetaKey): "first record"}
	for i := range 200 {
		rows[string(binary.BigEndian.AppendUint32([]byte("row "), uint32(i)))] = "a"
	}
	e := &ordered{kept: kept{Engine: memory.Open(nil)}}
	open := func(engine.Fold) (engine.Engine, error) { return e, nil }
	_, err := Restore(t.Context(), bytes.NewReader(file(t, rows)), open, func(Restored) {})
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range e.keys {
		if bytes.Equal(key, MetaKey) != (i == len(e.keys)-1) {
			t.Fatalf("key %d of %d that are committed is %q", i+1, len(e.keys), key)
		}
	}
}

// ordered notes the keys of commits, in their order.
type ordered struct {
	kept
	keys [][]byte
}

func (o *ordered) Commit(ops []engine.Op, done func(error)) {
	for _, op := range ops {
		o.keys = append(o.keys, bytes.Clone(op.Key))
	}
	o.kept.Commit(ops, done)
}
