package prove

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/model"
)

// unset is the recorded value of a marker whose value was not set. The marker stays in the text.
const unset = "unset"

// tokens matches comments, strings, names in quotes and markers.
var tokens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)--[^\n]*|//[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$\$.*?\$\$|\?|:[A-Za-z_]\w*`)
})

// bind puts literals into a text instead of its markers, in order. ok is false if the markers are not found.
func bind(text string, values []string) (bound string, ok bool) {
	for _, withNames := range []bool{false, true} {
		n := 0
		bound = tokens().ReplaceAllStringFunc(text, func(s string) string {
			if s != "?" && (s[0] != ':' || !withNames) {
				return s
			}
			n++
			if n > len(values) || values[n-1] == unset {
				return s
			}
			return values[n-1]
		})
		if n == len(values) {
			return bound, true
		}
	}
	return "", false
}

// unbound is the queries of one form whose values are not known.
type unbound struct {
	form, text string
	executions int64
}

// addUnbound keeps a query for replaySamples.
func (p *prover) addUnbound(form, text string) {
	for _, u := range p.sampled {
		if sameForm(u.form) == sameForm(form) {
			u.executions++
			return
		}
	}
	p.sampled = append(p.sampled, &unbound{form, text, 1})
}

// replaySamples runs the queries whose values are not known with values of the rows that were copied.
func (p *prover) replaySamples(ctx context.Context) error {
	for _, u := range p.sampled {
		columns, ok := comparedColumns(u.text)
		if !ok {
			p.omit(u.form, u.executions, "its values were not recorded, and columns do not have all of them")
			continue
		}
		sample := "SELECT "
		for i, c := range columns {
			if i > 0 {
				sample += ", "
			}
			sample += c.String()
		}
		o := client.QueryOptions{PageSize: maxSamples}
		rows, err := p.Conn.Query(ctx, sample+" FROM "+named(p.old).String(), nil, &o)
		if err != nil {
			p.omit(u.form, u.executions, err.Error())
			continue
		}
		used := map[string]bool{}
	nextRow:
		for _, row := range rows.Rows {
			var values []string
			for i, b := range row {
				if b == nil {
					continue nextRow
				}
				literal := rows.Columns[i].Type.Format(b)
				if columns[i].isList {
					literal = "(" + literal + ")"
				}
				values = append(values, literal)
			}
			text, ok := bind(u.text, values)
			if !ok || used[text] {
				continue
			}
			used[text] = true
			if err := p.play(ctx, text, u.form); err != nil {
				return err
			}
		}
		p.note("values of " + times(u.executions, "execution") + " were not recorded: values of " +
			times(int64(len(used)), "copied row") + " were used instead: " + u.form)
	}
	return nil
}

// comparedColumn is a column that a relation compares with a marker.
type comparedColumn struct {
	cql.ColumnRef
	isList bool // of IN ?
}

// comparedColumns are the columns that a query compares with its markers, in the order of the markers. ok is false if
// there are markers elsewhere.
func comparedColumns(text string) (all []comparedColumn, ok bool) {
	statement, markers, err := parser.Parse(text)
	q, isSelect := statement.(*cql.Select)
	if err != nil || !isSelect {
		return nil, false
	}
	for i := range q.Where {
		r := &q.Where[i]
		if r.Token || r.Tuple || r.Key != nil || len(r.Columns) != 1 {
			continue
		}
		switch r.Op {
		case cql.Eq, cql.Less, cql.LessEq, cql.Greater, cql.GreaterEq, cql.In:
			for _, v := range append([]cql.Term{r.Value}, r.Values.Parts...) {
				if _, isMarker := v.(*cql.Marker); isMarker {
					all = append(all, comparedColumn{r.Columns[0], r.Op == cql.In && v == r.Value})
				}
			}
		}
	}
	return all, len(all) == markers
}

// sameForm is the form of a statement, with one value instead of each list of values.
func sameForm(text string) string {
	return lists().ReplaceAllString(model.Form(text), "?, ?")
}

var lists = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\?(?:, ?\?)+`) })

// changing matches calls of functions with another result for each execution.
var changing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(uuid|now|current_?\w+)\s*\(\s*\)`)
})

// changes returns a function that a statement calls and whose results differ between executions, or "".
func changes(text string) string {
	return strings.ToLower(changing().FindString(model.Form(text)))
}
