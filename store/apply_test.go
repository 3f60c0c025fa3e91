package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// TestApplyIsAtomic writes two partitions and a partition tombstone together; readers never see a part.
func TestApplyIsAtomic(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	table := s.Catalog().Table("ks", "t")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			seen := map[string]int{}
			for _, row := range readRows(t, s, &Read{Table: table}) {
				_, v, _ := strings.Cut(row, "v=")
				seen[v]++
			}
			if len(seen) > 1 || len(seen) == 1 && seen[first(seen)] != 2 {
				t.Errorf("a read sees %v", seen)
				return
			}
		}
	})
	for i := range 300 {
		ts := int64(i + 1)
		var ms []*Mutation
		for k := range 2 {
			m := NewMutation(table, types.EncodeInt(int32(k)))
			m.DeletePartition(ts - 1)
			m.Row([][]byte{types.EncodeInt(int32(i))})
			m.Set(table.Regular[0], fmt.Append(nil, i), ts, Expiry{})
			ms = append(ms, m)
		}
		if err := apply(s, ms...); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

func first(m map[string]int) string {
	for k := range m {
		return k
	}
	return ""
}

func TestApplyRefuses(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k text", "c int", "v text"))
	table := s.Catalog().Table("ks", "t")
	large := NewMutation(table, []byte("k"))
	large.Row([][]byte{types.EncodeInt(1)})
	large.Set(table.Regular[0], make([]byte, s.limits.CommitBytes), 1, Expiry{})
	long := NewMutation(table, make([]byte, s.limits.Key))
	long.Row([][]byte{types.EncodeInt(1)})
	long.Mark(1, Expiry{})
	for text, m := range map[string]*Mutation{"oversized mutation": large, "is longer than maximum of": long} {
		err := apply(s, m)
		if e, ok := cqlerr.As(err); !ok || e.Code != cqlerr.Invalid || !strings.Contains(e.Message, text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := apply(s); err != nil {
		t.Errorf("nothing to apply: %v", err)
	}
	empty := NewMutation(table, []byte("k"))
	empty.Row([][]byte{types.EncodeInt(1)})
	if err := apply(s, empty); err != nil || all(t, s, table) != "" {
		t.Errorf("a row that says nothing: %v, %s", err, all(t, s, table))
	}
}

// TestRowGrowsTooLarge writes a row in two parts, each of which could be stored. The refusal tells what is too large.
func TestRowGrowsTooLarge(t *testing.T) {
	if *engineName == "hostile" || otherEngines[*engineName] != nil {
		t.Skip("it takes values of any size that it folds itself")
	}
	s := open(t, "", Options{})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k text", "c int", "v text, w text"))
	table := s.Catalog().Table("ks", "t")
	part := func(c int) error {
		m := NewMutation(table, []byte("k"))
		m.Row([][]byte{types.EncodeInt(1)})
		m.Set(table.Regular[c], make([]byte, s.limits.Value*3/5), 1, Expiry{})
		return apply(s, m)
	}
	if err := part(0); err != nil {
		t.Fatal(err)
	}
	e, ok := cqlerr.As(part(1))
	want := fmt.Sprintf("A stored row would have more than %d bytes with a mutation of ", s.limits.Value)
	if !ok || e.Code != cqlerr.Invalid || !strings.HasPrefix(e.Message, want) {
		t.Errorf("got %v, want %s", e, want)
	}
}

func TestReadStops(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	table := s.Catalog().Table("ks", "t")
	for i := range 300 {
		insert(t, s, table, i%3, i, "v")
	}
	keys := [][]byte{types.EncodeInt(0), types.EncodeInt(1), types.EncodeInt(2)}
	for name, r := range map[string]*Read{
		"scan": {Table: table}, "keys": {Table: table, Keys: keys}, "reverse": {Table: table, Reverse: true},
	} {
		n := 0
		err := s.Read(context.Background(), r, func(*Row) (bool, error) { n++; return n < 150, nil })
		if err != nil || n != 150 {
			t.Errorf("%s: %d rows, %v; want 150", name, n, err)
		}
		broken := errors.New("broken")
		if err := s.Read(context.Background(), r, func(*Row) (bool, error) { return true, broken }); !errors.Is(err, broken) {
			t.Errorf("%s returns %v, want the callback's error", name, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		n = 0
		err = s.Read(ctx, r, func(*Row) (bool, error) {
			n++
			cancel()
			return true, nil
		})
		if !errors.Is(err, context.Canceled) || n > 100 {
			t.Errorf("%s: %d rows after cancelling, %v", name, n, err)
		}
	}
	r := &Read{Table: table, Keys: keys, After: &Position{Partition: types.EncodeInt(9)}}
	if err := s.Read(context.Background(), r, func(*Row) (bool, error) { return true, nil }); err == nil {
		t.Error("a position outside the keys is taken")
	}
	r = &Read{Table: table, Keys: keys, After: &Position{Partition: keys[1], Whole: true}}
	if got := readRows(t, s, r); len(got) != 100 || !strings.HasPrefix(got[0], "k=2") {
		t.Errorf("behind the second partition there are %d rows", len(got))
	}
	r = &Read{Table: table, After: &Position{Partition: keys[0], Whole: true}}
	if got := readRows(t, s, r); len(got) != 100 || !strings.HasPrefix(got[0], "k=2") {
		t.Errorf("behind the partition in a scan there are %d rows", len(got))
	}
}

// TestVirtual reads a table made by code in all ways.
func TestVirtual(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	table := newTable(t, "virtual", "k int", "c int", "s text static, v text")
	other := newTable(t, "empty", "k int", "c int", "v text")
	table.Keyspace, other.Keyspace = "system", "system"
	err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		return c.WithKeyspace(&schema.Keyspace{
			Name:   "system",
			Tables: map[string]*schema.Table{"virtual": table, "empty": other},
		}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	fail := false
	s.AddVirtual(table, func(session Session, c *schema.Catalog) ([]*Mutation, error) {
		if fail {
			return nil, broken
		}
		var ms []*Mutation
		for _, k := range []int32{2, 1} {
			m := NewMutation(table, types.EncodeInt(k))
			m.Static()
			m.Set(table.Static[0], fmt.Append(nil, len(c.Keyspaces())), 1, Expiry{})
			for _, c := range []int32{3, 1, 2} {
				m.Row([][]byte{types.EncodeInt(c)})
				m.Mark(1, Expiry{})
				m.Set(table.Regular[0], []byte(session.LocalAddr.String()), 1, Expiry{})
			}
			ms = append(ms, m)
		}
		return append(ms, newInsert(table, 1, 1, "x")), nil
	}, nil)
	for want, r := range map[string]*Read{
		"static k=1 s='1'; k=1 c=1 s='1' v='x'; k=1 c=2 s='1' v='invalid AddrPort'; k=1 c=3 s='1' v='invalid AddrPort'; " +
			"static k=2 s='1'; k=2 c=1 s='1' v='invalid AddrPort'; k=2 c=2 s='1' v='invalid AddrPort'; " +
			"k=2 c=3 s='1' v='invalid AddrPort'": {},
		"static k=2 s='1'; k=2 c=3 s='1' v='invalid AddrPort'; k=2 c=2 s='1' v='invalid AddrPort'": {
			Keys: [][]byte{types.EncodeInt(2)}, Reverse: true,
			Slices: []Slice{{Start: [][]byte{types.EncodeInt(2)}, StartInclusive: true}},
		},
	} {
		r.Table = table
		if got := strings.Join(readRows(t, s, r), "; "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := all(t, s, other); got != "" {
		t.Errorf("a system table without rows has %s", got)
	}
	if err := apply(s, newInsert(other, 1, 1, "x")); err == nil {
		t.Error("a system table without a number is written to")
	}
	fail = true
	if err := s.Read(context.Background(), &Read{Table: table}, nil); !errors.Is(err, broken) {
		t.Errorf("read returns %v, want the error of fill", err)
	}
}

// TestUnknownColumns reads with definitions that lack columns which were written.
func TestUnknownColumns(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "v text, w text, x text"))
	table := s.Catalog().Table("ks", "t")
	m := newInsert(table, 1, 1, "v")
	m.Set(table.Regular[2], []byte("x"), 1, Expiry{})
	m.Set(table.Regular[1], []byte("w"), 1, Expiry{})
	if err := apply(s, m); err != nil {
		t.Fatal(err)
	}
	if got := all(t, s, table); got != "k=1 c=1 v='v' w='w' x='x'" {
		t.Error(got)
	}
	if got := all(t, s, newTable(t, "t", "k int", "c int", "v text")); got != "k=1 c=1 v='v'" {
		t.Errorf("without the last columns: %s", got)
	}
	spec := *table
	spec.Columns = []*schema.Column{table.Columns[0], table.Columns[1], table.Regular[2]}
	if got := all(t, s, schema.NewTable(spec)); got != "k=1 c=1 x='x'" {
		t.Errorf("without columns between: %s", got)
	}
}
