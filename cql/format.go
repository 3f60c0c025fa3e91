package cql

import "strings"

// printer collects the text of a node. Statements are printed in one line, keywords in capitals.
type printer struct{ strings.Builder }

// text appends words and punctuation as they are.
func (p *printer) text(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// when appends s if cond holds: the optional words of a statement.
func (p *printer) when(cond bool, s string) {
	if cond {
		p.WriteString(s)
	}
}

// clause appends a keyword and the term behind it, or nothing if the term was not given.
func (p *printer) clause(keyword string, t Term) {
	if t != nil {
		p.text(keyword, t.String())
	}
}

// each appends the items of a list with a separator between them.
func each[T any](p *printer, items []T, separator string, print func(T)) {
	for i, item := range items {
		if i > 0 {
			p.WriteString(separator)
		}
		print(item)
	}
}

// terms appends terms with commas between them.
func (p *printer) terms(terms []Term) {
	each(p, terms, ", ", func(t Term) { p.WriteString(t.String()) })
}

// names appends names, quoted where they must be, with commas between them.
func (p *printer) names(names []string) {
	each(p, names, ", ", func(n string) { p.WriteString(ident(n)) })
}

// pairs appends key: value entries with commas between them.
func (p *printer) pairs(n int, key func(int) string, values []Term) {
	for i := range n {
		if i > 0 {
			p.WriteString(", ")
		}
		p.text(key(i), ": ", values[i].String())
	}
}
