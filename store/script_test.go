package store

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

var update = flag.Bool("update", false, "write what the scripts answer into testdata")

// TestScripts runs testdata/*.txt. A block is commands, a line ----, what they answer, and a blank line.
//
//	table name (partition key) (clustering columns) (others)
//	put key [clustering] column=value ... @timestamp [ttl n]    with a marker
//	set ...                                                     without
//	static key column=value ... @timestamp [ttl n]
//
// where column[name]=value is one part of a column that is not frozen, and column[]=null all of them; the value of a
// counter is what it is changed by.
//
//	delete key [clustering | slice] @timestamp
//	read [key ...] [slice ...] [tokens=range] [reverse] [meta]
//	drop columns @timestamp, add (columns): as ALTER TABLE does
//	advance seconds, reopen, truncate
//	grace seconds: sets the table's gc_grace_seconds, which are 0 at first
//	sweep: says what it purged and what is stored then
//
// Values of one key are separated by colons. A slice is [1:2,3) with [ ] inclusive and ( ) exclusive
// bounds, either of which may be empty. Every read is repeated row by row, continuing from each.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScript(t, file) })
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{T: t, dir: t.TempDir()}
	s.clock.micros.Store(1000 * 1e6)
	s.store = open(t, s.dir, Options{Now: s.clock.now})
	defer func() { closeStore(t, s.store) }()
	var out bytes.Buffer
	for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		commands, want, _ := strings.Cut(block+"\n", "----\n")
		var got []string
		for line := range strings.Lines(commands) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				got = append(got, s.run(line)...)
			}
		}
		answer := strings.Join(got, "\n")
		if answer != strings.TrimSpace(want) && !*update {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", commands, answer, want)
		}
		out.WriteString(commands)
		if answer != "" {
			out.WriteString("----\n" + answer + "\n")
		}
		out.WriteByte('\n')
	}
	if *update {
		if err := os.WriteFile(file, bytes.TrimSuffix(out.Bytes(), []byte("\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// script is the state of one script: its store and the table that it made last.
type script struct {
	*testing.T
	dir   string
	clock clock
	store *Store
	table *schema.Table
}

func (s *script) run(line string) []string {
	words := strings.Fields(line)
	name, args := words[0], words[1:]
	switch name {
	case "table":
		parts := strings.Split(strings.ReplaceAll(line[len("table "):], ")", ""), "(")
		s.table = newTable(s, strings.TrimSpace(parts[0]), parts[1], parts[2], parts[3])
		define(s, s.store, s.table)
	case "put", "set", "static":
		s.write(name, args)
	case "delete":
		s.remove(args)
	case "read":
		return s.read(args)
	case "advance":
		n, err := strconv.Atoi(args[0])
		if err != nil {
			s.Fatal(err)
		}
		s.clock.micros.Add(int64(n) * 1e6)
	case "grace":
		n, err := strconv.Atoi(args[0])
		if err != nil {
			s.Fatal(err)
		}
		changed := *s.table
		changed.Options.GCGraceSeconds = n
		s.table = schema.NewTable(changed)
		define(s, s.store, s.table)
	case "drop":
		ts, _ := s.timestamp(&args)
		s.alter(func(t *schema.Table) *schema.Table { return t.WithoutColumns(args, ts) })
	case "add":
		columns := newTable(s, "added", "k int", "c int", strings.Trim(strings.TrimPrefix(line, "add "), "()")).Columns[2:]
		s.alter(func(t *schema.Table) *schema.Table {
			for _, c := range columns {
				c.ID = 0
			}
			return t.WithColumns(columns)
		})
	case "sweep":
		return s.sweep()
	case "reopen":
		closeStore(s, s.store)
		s.store = open(s, s.dir, Options{Now: s.clock.now})
	case "truncate":
		if err := s.store.Truncate(context.Background(), s.table); err != nil {
			s.Fatal(err)
		}
	default:
		s.Fatalf("unknown command %q", line)
	}
	return nil
}

// alter changes the table's definition.
func (s *script) alter(change func(*schema.Table) *schema.Table) {
	s.table = change(s.store.Catalog().Table(s.table.Keyspace, s.table.Name))
	define(s, s.store, s.table)
}

// sweep sweeps the table, whether it wants it or not.
func (s *script) sweep() []string {
	before := s.store.SweepMetrics()
	id := s.store.Catalog().Table(s.table.Keyspace, s.table.Name).StoreID
	s.store.usages.Drop(uint32(id))
	if err := s.store.Sweep(context.Background()); err != nil {
		s.Fatal(err)
	}
	m := s.store.SweepMetrics()
	e := s.store.Estimate(s.table)
	return []string{fmt.Sprintf("removed %d, rewritten %d; %d partitions, %d rows, %d tombstones, largest %x, %d keys",
		m.Removed-before.Removed, m.Rewritten-before.Rewritten, e.Partitions, e.Rows, e.Tombstones, e.LargestKey,
		storedKeys(s, s.store, id))}
}

// values reads the values of the first columns.
func (s *script) values(columns []*schema.Column, text string) [][]byte {
	if text == "" {
		return nil
	}
	var values [][]byte
	for i, v := range strings.Split(text, ":") {
		values = append(values, literal(s, columns[i].Type, v))
	}
	return values
}

// key is a serialized partition key.
func (s *script) key(text string) []byte {
	values := s.values(s.table.PartitionKey, text)
	if len(values) == 1 {
		return values[0]
	}
	var key []byte
	for _, v := range values {
		key = types.AppendCompositeKey(key, v)
	}
	return key
}

func (s *script) write(name string, args []string) {
	m := NewMutation(s.table, s.key(args[0]))
	m.At(s.clock.now().Unix())
	args = args[1:]
	if name == "static" {
		m.Static()
	} else if len(s.table.Clustering) > 0 {
		m.Row(s.values(s.table.Clustering, args[0]))
		args = args[1:]
	} else {
		m.Row(nil)
	}
	ts, expiry := s.timestamp(&args)
	if name == "put" {
		m.Mark(ts, expiry)
	}
	for _, a := range args {
		column, value, _ := strings.Cut(a, "=")
		column, part, isPart := strings.Cut(strings.TrimSuffix(column, "]"), "[")
		c := s.table.Column(column)
		if c.Type == types.Counter {
			s.count(m, c, value, ts)
			continue
		}
		if isPart {
			s.part(m, c, part, value, ts, expiry)
			continue
		}
		v := literal(s, c.Type, value)
		if v == nil {
			m.Set(c, nil, ts, Expiry{})
		} else {
			m.Set(c, v, ts, expiry)
		}
	}
	s.apply(m)
}

// part writes a part of a column: the element of a set, the value of a map's key, or the element at a number in a
// list.
func (s *script) part(m *Mutation, c *schema.Column, name, value string, ts int64, e Expiry) {
	if name == "" {
		m.Clear(c, ts)
		return
	}
	var key, v []byte
	switch t := c.Type.(type) {
	case *types.Set:
		if key = literal(s, t.Elem, name); value != "null" {
			v = []byte{}
		}
	case *types.Map:
		key, v = literal(s, t.Key, name), literal(s, t.Value, value)
	case *types.List:
		n, err := strconv.Atoi(name)
		if err != nil {
			s.Fatal(err)
		}
		key, v = AppendPlace(nil, int64(n), 7), literal(s, t.Elem, value)
	}
	m.SetPart(c, key, v, ts, e)
}

// count changes or deletes a counter.
func (s *script) count(m *Mutation, c *schema.Column, change string, ts int64) {
	if change == "null" {
		m.DeleteCounter(c, ts)
		return
	}
	n, err := strconv.ParseInt(change, 10, 64)
	if err != nil {
		s.Fatal(err)
	}
	m.Add(c, n, ts)
}

// timestamp takes "@5 ttl 10" from the end of args.
func (s *script) timestamp(args *[]string) (ts int64, e Expiry) {
	i := slices.IndexFunc(*args, func(a string) bool { return a[0] == '@' })
	rest := (*args)[i:]
	ts, err := strconv.ParseInt(rest[0][1:], 10, 64)
	if err != nil {
		s.Fatal(err)
	}
	if len(rest) == 3 {
		ttl, err := strconv.Atoi(rest[2])
		if err != nil {
			s.Fatal(err)
		}
		e = Expiry{TTL: int32(ttl), At: s.clock.now().Unix() + int64(ttl)}
	}
	*args = (*args)[:i]
	return ts, e
}

func (s *script) remove(args []string) {
	m := NewMutation(s.table, s.key(args[0]))
	m.At(s.clock.now().Unix())
	args = args[1:]
	ts, _ := s.timestamp(&args)
	switch {
	case len(args) == 0:
		m.DeletePartition(ts)
	case strings.ContainsAny(args[0][:1], "[("):
		m.DeleteRange(s.slice(args[0]), ts)
	default:
		m.Row(s.values(s.table.Clustering, args[0]))
		m.DeleteRow(ts)
	}
	s.apply(m)
}

func (s *script) apply(m *Mutation) {
	if err := apply(s.store, m); err != nil {
		s.Fatal(err)
	}
}

func (s *script) slice(text string) Slice {
	from, to, _ := strings.Cut(text[1:len(text)-1], ",")
	return Slice{
		Start: s.values(s.table.Clustering, from), StartInclusive: text[0] == '[',
		End: s.values(s.table.Clustering, to), EndInclusive: strings.HasSuffix(text, "]"),
	}
}

func (s *script) read(args []string) []string {
	if slices.Contains(args, "counting") {
		return s.tombstonesRead(slices.DeleteFunc(args, func(a string) bool { return a == "counting" }))
	}
	r := s.wanted(args)
	all := readRows(s, s.store, r)
	if paged := s.readRowByRow(r); !slices.Equal(paged, all) {
		s.Errorf("read %v: row by row it is\n%s\nand at once\n%s", args, strings.Join(paged, "\n"), strings.Join(all, "\n"))
	}
	if len(all) == 0 {
		return []string{"none"}
	}
	return all
}

// tombstonesRead reads, and returns the counts.
func (s *script) tombstonesRead(args []string) []string {
	r := s.wanted(args)
	n := &TombstonesRead{Max: 1000, Statics: true}
	r.Tombstones = n
	readRows(s, s.store, r)
	return []string{fmt.Sprintf("%d live rows, %d tombstones, %d in one command", n.Rows, n.Tombstones, n.Peak)}
}

// wanted is the Read that the words after read describe.
func (s *script) wanted(args []string) *Read {
	r := &Read{Table: s.table, Now: s.clock.now().Unix()}
	for _, a := range args {
		switch {
		case a == "reverse":
			r.Reverse = true
		case a == "meta":
			r.Meta = true
		case strings.HasPrefix(a, "tokens="):
			bounds := strings.FieldsFunc(a[len("tokens="):], func(c rune) bool { return strings.ContainsRune("()[],", c) })
			r.Tokens.Bounded = true
			r.Tokens.Start, _ = strconv.ParseInt(bounds[0], 10, 64)
			r.Tokens.End, _ = strconv.ParseInt(bounds[1], 10, 64)
			r.Tokens.StartInclusive = strings.Contains(a, "[")
			r.Tokens.EndInclusive = strings.Contains(a, "]")
		case strings.ContainsAny(a[:1], "[("):
			r.Slices = append(r.Slices, s.slice(a))
		default:
			r.Keys = append(r.Keys, s.key(a))
		}
	}
	return r
}

// readRowByRow reads a row at a time, each behind the last.
func (s *script) readRowByRow(r *Read) (out []string) {
	page := *r
	for page.After == nil || len(out) < 1000 {
		found := false
		err := s.store.Read(context.Background(), &page, func(row *Row) (bool, error) {
			found = true
			out = append(out, formatRow(s.table, row))
			page.After = &Position{Partition: bytes.Clone(row.Partition)}
			if !row.Static {
				for _, c := range s.table.Clustering {
					page.After.Clustering = append(page.After.Clustering, bytes.Clone(row.Values[c.Index]))
				}
			}
			return false, nil
		})
		if err != nil {
			s.Fatal(err)
		}
		if !found {
			break
		}
	}
	return out
}

// TestTimestamps checks that no timestamp comes twice, even when the clock stands still or goes back.
func TestTimestamps(t *testing.T) {
	var c clock
	c.micros.Store(100)
	s := open(t, "", Options{Now: c.now})
	defer closeStore(t, s)
	got := fmt.Sprint(s.Timestamp(), s.Timestamp())
	c.micros.Store(50)
	got += fmt.Sprint(" ", s.Timestamp())
	c.micros.Store(200)
	got += fmt.Sprint(" ", s.Timestamp(), " ", s.Now().Equal(time.UnixMicro(200)))
	if got != "100 101 102 200 true" {
		t.Error(got)
	}
}
