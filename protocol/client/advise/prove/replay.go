package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client/advise"
	"github.com/cqld/cqld/protocol/client/model"
)

// replay runs the observed statements of the old table on both tables, in order.
func (p *prover) replay(ctx context.Context) error {
	end, _ := ctx.Deadline()
	writesEnd, skipped := time.Now().Add(time.Until(end)/2), 0 // the rest is for queries
	all := p.Statements
	if len(all) > maxStatements {
		all = all[len(all)-maxStatements:]
		p.note(fmt.Sprintf("only the last %d of %d observed statements were replayed", maxStatements, len(p.Statements)))
	}
	var err error
	done := 0
	for ; done < len(all) && err == nil; done++ {
		st := &all[done]
		if st.Opcode == "PREPARE" || st.Table != "" && st.Table != p.finding.Table {
			continue
		}
		if st.Kind != "select" && st.Kind != "" && time.Now().After(writesEnd) {
			skipped++
			continue
		}
		err = p.playRecorded(ctx, st)
	}
	if skipped > 0 {
		p.note(fmt.Sprintf("the last %s were applied to neither table, because half of the time for the replay had passed",
			times(int64(skipped), "write")))
	}
	if err == nil {
		err = p.replaySamples(ctx)
	}
	wrote := slices.ContainsFunc(p.proof.Statements, func(m advise.Measured) bool { return !m.Reads })
	if p.proof.Rows == 0 && len(p.forms) > 0 && !wrote {
		p.note("neither table had rows, so this proves nothing")
	}
	if err != nil && ctx.Err() != nil && len(p.proof.Statements) > 0 {
		p.note(fmt.Sprintf("the time ended at statement %d of %d observed ones", done, len(all)))
		return nil
	}
	return err
}

// playRecorded runs a recorded request, or the statements of a BATCH one after the other.
func (p *prover) playRecorded(ctx context.Context, st *model.Statement) error {
	refused := strings.Contains(st.Err, "ALLOW FILTERING")
	if st.Err != "" && !refused {
		return nil
	}
	texts := []string{st.Text}
	if st.Opcode == "BATCH" {
		texts = nil
		for _, piece := range parser.Split(st.Text) {
			texts = append(texts, piece.Text)
		}
	}
	values := st.Values
	for _, text := range texts {
		statement, markers, err := parser.Parse(text)
		if err != nil {
			continue // a password was hidden
		}
		var own []string
		if len(values) >= markers {
			own, values = values[:markers], values[markers:]
		}
		if b, ok := statement.(*cql.Batch); ok {
			err = p.playBatch(ctx, st, b, own)
		} else {
			err = p.playText(ctx, st, text, statement, markers, own)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// playBatch runs the statements of BEGIN BATCH.
func (p *prover) playBatch(ctx context.Context, st *model.Statement, b *cql.Batch, values []string) error {
	for _, child := range b.Statements {
		text := child.String()
		statement, markers, err := parser.Parse(text)
		if err != nil {
			continue
		}
		if b.Using.Timestamp != nil {
			if p.concerns(st, statement) {
				p.omit(model.Form(text), 1, "its batch has a timestamp")
			}
			continue
		}
		var own []string
		if len(values) >= markers {
			own, values = values[:markers], values[markers:]
		}
		if err := p.playText(ctx, st, text, statement, markers, own); err != nil {
			return err
		}
	}
	return nil
}

// playText runs a statement if it is one of the old table's and the finding is about it.
func (p *prover) playText(
	ctx context.Context, st *model.Statement, text string, statement cql.Statement, markers int, values []string,
) error {
	form := model.Form(text)
	_, isSelect := statement.(*cql.Select)
	if !p.concerns(st, statement) || isSelect && p.wanted != nil && !p.wanted[sameForm(form)] {
		return nil
	}
	if markers > 0 && len(values) < markers {
		if isSelect {
			p.addUnbound(form, text)
		} else {
			p.omit(form, 1, "its values were not recorded")
		}
		return nil
	}
	bound, ok := bind(text, values)
	if !ok {
		p.omit(form, 1, "its values have no place in its text")
		return nil
	}
	return p.play(ctx, bound, form)
}

// concerns reports whether a statement is about the old table.
func (p *prover) concerns(st *model.Statement, statement cql.Statement) bool {
	var name cql.QualifiedName
	switch s := statement.(type) {
	case *cql.Select:
		name = s.Table
	case *cql.Insert:
		name = s.Table
	case *cql.Update:
		name = s.Table
	case *cql.Delete:
		name = s.Table
	}
	keyspace := name.Keyspace
	if keyspace == "" {
		keyspace, _, _ = strings.Cut(st.Table, ".")
	}
	if keyspace == "" && len(p.keyspaces[name.Name]) == 1 { // a BATCH of several tables
		keyspace = p.keyspaces[name.Name][0]
	}
	return name.Name == p.old.Name && keyspace == p.old.Keyspace
}

// play runs a statement with its values.
func (p *prover) play(ctx context.Context, text, form string) error {
	statement, _, err := parser.Parse(text)
	if err != nil {
		p.omit(form, 1, "a value was not recorded, because it may be a password")
		return nil
	}
	statement, ok := withoutUnset(statement)
	if !ok {
		p.omit(form, 1, "a value of its condition was not set")
		return nil
	}
	if q, ok := statement.(*cql.Select); ok {
		return p.playSelect(ctx, q, form)
	}
	return p.playWrite(ctx, statement, form)
}

// note adds a note to the proof.
func (p *prover) note(text string) {
	if !slices.Contains(p.proof.Notes, text) {
		p.proof.Notes = append(p.proof.Notes, text)
	}
}

// omit counts executions of statements without a translation.
func (p *prover) omit(form string, executions int64, reason string) {
	key := sameForm(form) + "\x00" + reason
	at, known := p.omitted[key]
	if !known {
		at = len(p.proof.Omitted)
		p.omitted[key] = at
		p.proof.Omitted = append(p.proof.Omitted, advise.NotReplayed{Form: form, Reason: reason})
	}
	p.proof.Omitted[at].Executions += executions
}

// refused omits a statement that a table refuses. It returns errors of other kinds.
func (p *prover) refused(form, reason string, err error) error {
	e, fromServer := cqlerr.As(err)
	if !fromServer {
		return err
	}
	p.omit(form, 1, reason+e.Message)
	return nil
}

// times is a count with its noun.
func times(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// measured returns the sum for a form.
func (p *prover) measured(form, as string, reads bool) *advise.Measured {
	key := sameForm(form)
	at, known := p.forms[key]
	if !known {
		at = len(p.proof.Statements)
		p.forms[key] = at
		p.proof.Statements = append(p.proof.Statements, advise.Measured{Form: form, As: as, Reads: reads})
	}
	return &p.proof.Statements[at]
}

// playSelect runs a query on both tables.
func (p *prover) playSelect(ctx context.Context, q *cql.Select, form string) error {
	if name := changes(q.String()); name != "" {
		p.omit(form, 1, name+" has another value for each query")
		return nil
	}
	consumes := p.finding.Rule == queueRule && p.bucket != nil && p.readsHead(q)
	var as *cql.Select
	if !consumes {
		var reason string
		if as, reason = p.translateSelect(q); reason != "" {
			p.omit(form, 1, reason)
			return nil
		}
	}
	original := *q
	original.Table = named(p.old)
	var after, before advise.Cost
	var rowsAfter rowSet
	var err error
	text := ""
	if consumes {
		rowsAfter, text, err = p.consume(ctx, q, &after)
	} else {
		rowsAfter, err = p.read(ctx, as, &after)
		text = as.String()
	}
	if err != nil {
		return p.refused(form, "the proposed table refuses it: ", err)
	}
	rowsBefore, err := p.read(ctx, &original, &before)
	if _, fromServer := cqlerr.As(err); fromServer && !q.AllowFiltering {
		original.AllowFiltering = true
		if rowsBefore, err = p.read(ctx, &original, &before); err == nil {
			p.note("before: with ALLOW FILTERING, without which the old table refuses it: " + form)
		}
	}
	if err != nil {
		return p.refused(form, "the old table refuses it: ", err)
	}
	if !consumes && (q.Limit != nil || q.PerPartitionLimit != nil) {
		p.note("compared without LIMIT, because the order of the old table decides which rows it returns: " + form)
		all, translated := original, *as
		all.Limit, all.PerPartitionLimit, translated.Limit, translated.PerPartitionLimit = nil, nil, nil, nil
		var ignored advise.Cost
		if rowsBefore, err = p.read(ctx, &all, &ignored); err == nil {
			rowsAfter, err = p.read(ctx, &translated, &ignored)
		}
		if err != nil {
			return err
		}
	}
	if plan := model.PlanOf(q, p.old); plan.Index != "" && plan.Partitions == 0 {
		p.note("the index is read on one node here, but on each node of a cluster: " + form)
	}
	m := p.measured(form, model.Form(text), true)
	m.Executions++
	m.Before.Add(before)
	m.After.Add(after)
	if missing, extra := rowsBefore.minus(rowsAfter), rowsAfter.minus(rowsBefore); missing+extra > 0 {
		m.Different++
		if m.Difference == "" {
			m.Difference = fmt.Sprintf("the first one lacks %s of the old table, and has %d others", times(missing, "row"),
				extra)
		}
	}
	return nil
}
