package advise

import (
	"fmt"
	"strings"
)

// Proof is how a proposed table did in place of the old one: both got the same rows, and observed statements were
// replayed on both. Package prove makes it.
type Proof struct {
	Table     string `json:"table"`               // the proposed one
	Unproven  string `json:"unproven,omitempty"`  // why nothing was measured
	Rows      int64  `json:"rows"`                // of the old table that were copied
	LeftOut   int64  `json:"left_out,omitempty"`  // rows that the proposed table lacks, because their key would be null
	Truncated bool   `json:"truncated,omitempty"` // the old table has more rows

	Statements []Measured    `json:"statements,omitempty"`
	Omitted    []NotReplayed `json:"not_replayed,omitempty"`
	Failures   []string      `json:"failures,omitempty"` // of the proposal
	Notes      []string      `json:"notes,omitempty"`
}

// Measured is the executions of statements of one form, on the old table and on the proposed one.
type Measured struct {
	Form       string `json:"form"` // for the old table
	As         string `json:"as"`   // for the proposed one; "": the proposed table has nothing of it
	Executions int64  `json:"executions"`
	Reads      bool   `json:"reads"` // it is a query; else it was applied to both tables
	Before     Cost   `json:"before"`
	After      Cost   `json:"after"`
	Different  int64  `json:"different"` // executions that returned other rows
	Difference string `json:"difference,omitempty"`
}

// Cost is the cost of queries.
type Cost struct {
	Queries    int64 `json:"queries"`
	RowsRead   int64 `json:"rows_read"`
	Tombstones int64 `json:"tombstones"`
	Returned   int64 `json:"returned"`
}

// Add adds a cost.
func (c *Cost) Add(d Cost) {
	c.Queries += d.Queries
	c.RowsRead += d.RowsRead
	c.Tombstones += d.Tombstones
	c.Returned += d.Returned
}

// NotReplayed is statements of one form that have no translation to the proposed table. They were applied to neither
// table.
type NotReplayed struct {
	Form       string `json:"form"`
	Executions int64  `json:"executions"`
	Reason     string `json:"reason"`
}

// Failed reports whether the proposed table is no substitute for the old one.
func (p *Proof) Failed() bool {
	for _, m := range p.Statements {
		if m.Different > 0 {
			return true
		}
	}
	return len(p.Failures) > 0
}

// String is the proof over several lines.
func (p *Proof) String() string {
	if p.Unproven != "" {
		return wrap("proof: none, because " + p.Unproven)
	}
	var b strings.Builder
	line := func(text string) { b.WriteString("\n  " + strings.ReplaceAll(wrap(text), "\n", "\n    ")) }
	fmt.Fprintf(&b, "proof: with %s of the old table", plural(int(p.Rows), "row"))
	if p.Truncated {
		b.WriteString(", which has more")
	}
	if p.LeftOut > 0 {
		fmt.Fprintf(&b, "; the proposed one lacks %s whose key would be null", plural(int(p.LeftOut), "row"))
	}
	for _, m := range p.Statements {
		if !m.Reads {
			line("applied to both: " + shorten(m.Form) + " (" + plural(int(m.Executions), "time") + ")")
		}
	}
	for _, m := range p.Statements {
		if !m.Reads {
			continue
		}
		line("before: " + shorten(m.Form) + " (" + plural(int(m.Executions), "time") + ")")
		line("after:  " + shorten(m.As))
		fmt.Fprintf(&b, "\n  %10s %8s %10s %10s %10s", "", "queries", "rows read", "tombstones", "returned")
		row := func(name string, c Cost) {
			fmt.Fprintf(&b, "\n  %-10s %8d %10d %10d %10d", name, c.Queries, c.RowsRead, c.Tombstones, c.Returned)
		}
		row("before", m.Before)
		row("after", m.After)
		if m.Different == 0 {
			b.WriteString("  the same rows")
			if m.After.RowsRead+m.After.Tombstones >= m.Before.RowsRead+m.Before.Tombstones {
				b.WriteString(", but no less is read")
			}
		} else {
			line(fmt.Sprintf("THE PROPOSAL FAILS: %d of %s returned other rows: %s", m.Different,
				plural(int(m.Executions), "execution"), m.Difference))
		}
	}
	for _, f := range p.Failures {
		line("THE PROPOSAL FAILS: " + f)
	}
	for _, o := range p.Omitted {
		line(fmt.Sprintf("not replayed: %s (%s): %s", shorten(o.Form), plural(int(o.Executions), "time"), o.Reason))
	}
	for _, n := range p.Notes {
		line(n)
	}
	return b.String()
}
