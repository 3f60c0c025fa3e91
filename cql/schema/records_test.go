package schema_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

func TestEncode(t *testing.T) {
	r := schema.Encode(sample(t))
	if !reflect.DeepEqual(r, schema.Encode(sample(t))) {
		t.Error("equal catalogs have different encodings")
	}
	c := decode(t, r)
	if !reflect.DeepEqual(r, schema.Encode(c)) {
		t.Error("a decoded catalog has another encoding")
	}
	table, want := c.Table("a", "t"), sample(t).Table("a", "t")
	if table.StoreID != 1007 || table.NextID != want.NextID || table.CQL(true) != want.CQL(true) {
		t.Errorf("decoded\n%s\nwant\n%s", table.CQL(true), want.CQL(true))
	}
	nested, want := c.Table("a", "u"), sample(t).Table("a", "u")
	if nested.CQL(false) != want.CQL(false) {
		t.Errorf("decoded\n%s\nwant\n%s", nested.CQL(false), want.CQL(false))
	}
	if c.Keyspace("system") == nil {
		t.Error("the system keyspace is missing")
	}
}

// A change touches the records of what changed, and no others.
func TestChanges(t *testing.T) {
	c := sample(t)
	other := *c.Table("a", "t")
	other.Options.Comment = "other"
	durable := *c.Keyspace("a")
	durable.DurableWrites = !durable.DurableWrites
	for want, to := range map[string]*schema.Catalog{
		"":                         c,
		"put a.t":                  c.WithTable(schema.NewTable(other)),
		"drop a.t":                 c.WithoutTable("a", "t"),
		"put b.t":                  c.WithTable(newTable("b", "t", column("k", types.Int, schema.PartitionKey))),
		"put a":                    c.WithKeyspace(&durable),
		"drop a drop a.t drop a.u": c.WithoutKeyspace("a"),
		"put n":                    c.WithKeyspace(newKeyspace(t, "n")),
	} {
		changes, got := schema.Changes(c, to), ""
		after := schema.Encode(c)
		for _, key := range slices.Sorted(maps.Keys(changes)) {
			if changes[key] == nil {
				got += " drop " + key
				delete(after, key)
			} else {
				got += " put " + key
				after[key] = changes[key]
			}
		}
		if got = strings.TrimSpace(strings.ReplaceAll(got, "\x00", ".")); got != want {
			t.Errorf("changed: %s; want %s", got, want)
		}
		if !reflect.DeepEqual(after, schema.Encode(to)) || decode(t, after).Version() != to.Version() {
			t.Errorf("%s: the records are not those of the catalog", want)
		}
	}
}

// A damaged record is refused with the name of what it defines, wherever it is.
func TestDecodeRefuses(t *testing.T) {
	good := schema.Encode(withTypes(t).WithTable(altered(t)))
	for key, record := range good {
		with := func(b []byte) error {
			r := maps.Clone(good)
			r[key] = b
			_, err := schema.Decode(r)
			return err
		}
		name := "definition of " + strings.ReplaceAll(key, "\x00", ".") + ": "
		for n := range len(record) {
			if err := with(record[:n]); err == nil || !strings.HasPrefix(err.Error(), name) {
				t.Errorf("%d of %d bytes of %s: %v", n, len(record), key, err)
			}
		}
		if with(append(bytes.Clone(record), 0)) == nil {
			t.Errorf("a byte too many of %s is taken", key)
		}
		for i := range record {
			damaged := bytes.Clone(record)
			damaged[i] ^= 1 << (i % 8)
			if err := with(damaged); err == nil || !strings.HasPrefix(err.Error(), name) {
				t.Errorf("a bit of byte %d of %s: %v", i, key, err)
			}
		}
		newer := bytes.Clone(record)
		newer[0]++
		if err := with(newer); !errors.Is(err, schema.ErrNewerVersion) {
			t.Errorf("a newer version: %v", err)
		}
		for other, b := range good {
			if other != key && with(b) == nil {
				t.Errorf("the record of %q is taken for %q", other, key)
			}
		}
	}
	lost := maps.Clone(good)
	delete(lost, "a")
	if _, err := schema.Decode(lost); err == nil || err.Error() != "definition of a.alt: it has no keyspace" {
		t.Errorf("without its keyspace: %v", err)
	}
}

// Records whose checksum is right and that make no sense are refused, or at least nothing panics.
func TestDecodeNonsense(t *testing.T) {
	good := schema.Encode(withTypes(t).WithTable(altered(t)))
	for key, record := range good {
		for i := range record[:len(record)-crc32.Size] {
			for _, flip := range []byte{0x01, 0x80, 0xff} {
				b := bytes.Clone(record[:len(record)-crc32.Size])
				b[i] ^= flip
				r := maps.Clone(good)
				r[key] = binary.BigEndian.AppendUint32(b, crc32.Checksum(append([]byte(key), b...),
					crc32.MakeTable(crc32.Castagnoli)))
				_, _ = schema.Decode(r) // some nonsense gives other names
			}
		}
	}
}

// Types survive an encoding.
func TestEncodeTypes(t *testing.T) {
	c := withTypes(t)
	again := decode(t, schema.Encode(c))
	if again.Version() != c.Version() || !reflect.DeepEqual(schema.Encode(again), schema.Encode(c)) {
		t.Error("types change in an encoding")
	}
	for _, u := range c.Keyspace("a").SortedTypes() {
		if got := again.Type("a", u.Name); got == nil || !types.Equal(got, u) {
			t.Errorf("type %s becomes %v", u.Name, got)
		}
	}
}

// The bytes of records stay as they are: servers read definitions that earlier versions have written.
func TestEncodingStays(t *testing.T) {
	c := withTypes(t).WithTable(altered(t))
	base := c.Table("a", "t")
	view := newTable("a", "by_z", column("z", types.Int, schema.PartitionKey), column("k2", types.Int, schema.Clustering))
	view.View = &schema.View{BaseID: base.ID, Base: "t", All: true, Where: []schema.ViewRelation{
		{Columns: []string{"z"}, Rest: "IS NOT NULL"},
		{
			Columns: []string{"k2", "z"}, Tuple: true, Rest: "IN ((1, 2))", Test: schema.OneOf,
			Values: [][][]byte{{types.EncodeInt(1), {}}, {types.EncodeInt(3), types.EncodeInt(4)}},
		},
	}}
	dense := newTable("a", "dense", column("k", types.Int, schema.PartitionKey),
		column("c", types.Int, schema.Clustering), column("v", types.Int, schema.Regular))
	dense.Compact = schema.CompactDense
	dense.Options = schema.DefaultTableOptions()
	dense.Options.Extensions = map[string][]byte{"b": {1}, "a": {}}
	callable := func(name string, args ...types.Type) schema.Callable {
		return schema.Callable{Keyspace: "a", Name: name, Args: args, Returns: types.Int}
	}
	c = c.WithTable(view).WithTable(schema.NewTable(*dense)).WithTable(base.WithIndex(&schema.Index{
		Name: "x", Class: "sai", Targets: []schema.IndexTarget{{Column: "z"}}, Options: map[string]string{"o": "p"},
	})).WithRoutine(&schema.Function{
		Callable: callable("f", types.Int, types.Text), ArgNames: []string{"x", "y"}, CalledOnNull: true,
		Language: "java", Body: "return x;",
	}).WithRoutine(&schema.Function{Callable: callable("g"), Language: "java", Body: ";"}).
		WithRoutine(&schema.Aggregate{
			Callable: callable("s", types.Text), StateFunction: "f", StateType: types.Int, FinalFunction: "h",
			Initial: types.EncodeInt(7),
		}).
		WithRoutine(&schema.Aggregate{Callable: callable("r", types.Text), StateFunction: "f", StateType: types.Int})
	records := schema.Encode(c)
	got := crc32.NewIEEE()
	for _, key := range slices.Sorted(maps.Keys(records)) {
		got.Write(append([]byte(key), records[key]...))
	}
	version := c.Version()
	got.Write(version[:])
	if want := uint32(0xa47e9f4b); got.Sum32() != want {
		t.Errorf("the records have the checksum %#x, not %#x", got.Sum32(), want)
	}
	again := decode(t, records)
	if again.Version() != version || !reflect.DeepEqual(schema.Encode(again), records) {
		t.Error("a decoded catalog is another one")
	}
}
