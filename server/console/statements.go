package console

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/server/control"
)

// statementView is a recorded statement.
type statementView struct {
	Number                         int64
	Text, Table, Client, Err, Keys string
	Kind                           string
	Took                           time.Duration
	Returned, Rows, Tombstones     int
	Prepared, Scan                 bool
}

// maxStatement is how many bytes of a statement are shown.
const maxStatement = 500

func newStatementView(s *control.Statement) statementView {
	v := statementView{
		Number: s.Number, Text: shortened(s.Text, maxStatement), Kind: s.Kind, Client: s.Client, Took: s.Took,
		Returned: s.Returned, Rows: s.RowsRead, Tombstones: s.Tombstones, Prepared: s.Prepared, Scan: s.Scanned,
		Keys: shortened(strings.Join(s.Keys, " · "), 200),
	}
	if s.Opcode == "PREPARE" {
		v.Kind = "prepare"
	}
	if s.Client == "" {
		v.Client = "console"
	}
	if s.Table != "" {
		v.Table = s.Keyspace + "." + s.Table
	}
	if s.Err != nil {
		v.Err = shortened(s.Err.Error(), maxStatement)
	}
	return v
}

// hotView is a partition with how many statements have read or written it.
type hotView struct {
	Table, Key string
	Count      int
	Share      int // thousandths of the largest
}

// observed are the statements that a page has seen, for its lists.
type observed struct {
	hot  map[[2]string]int
	slow []statementView
}

const (
	maxSlow = 10
	maxHot  = 10
	maxKeys = 10_000 // different partitions
)

func (o *observed) add(s *control.Statement) {
	if s.Opcode == "PREPARE" {
		return
	}
	table := "batch of several tables"
	if s.Table != "" {
		table = s.Keyspace + "." + s.Table
	}
	for _, k := range s.Keys {
		key := [2]string{table, shortened(k, 200)}
		if _, known := o.hot[key]; known || len(o.hot) < maxKeys {
			o.hot[key]++
		}
	}
	at, _ := slices.BinarySearchFunc(o.slow, s.Took, func(v statementView, d time.Duration) int { return cmp.Compare(d, v.Took) })
	if at < maxSlow {
		o.slow = slices.Insert(o.slow, at, newStatementView(s))
		o.slow = o.slow[:min(len(o.slow), maxSlow)]
	}
}

// hottest returns the partitions of most statements.
func (o *observed) hottest() (all []hotView) {
	compare := func(a, b hotView) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Key, b.Key))
	}
	for key, n := range o.hot {
		one := hotView{Table: key[0], Key: key[1], Count: n}
		if at, _ := slices.BinarySearchFunc(all, one, compare); at < maxHot {
			all = slices.Insert(all, at, one)
			all = all[:min(len(all), maxHot)]
		}
	}
	for i := range all {
		all[i].Share = all[i].Count * 1000 / all[0].Count
	}
	return all
}
