package prove

import (
	"context"
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol/client/model"
)

// playWrite applies a write to both tables.
func (p *prover) playWrite(ctx context.Context, statement cql.Statement, form string) error {
	as, reason := p.translateWrite(statement)
	if reason == "" {
		var err error
		if reason, err = p.moves(ctx, statement); err != nil {
			return p.refused(form, "the old table refuses it: ", err)
		}
	}
	text := ""
	if reason == "" && as != nil {
		text = as.String()
		if key := model.Form(text); !p.valid[key] {
			if _, err := p.Conn.Prepare(ctx, text, ""); err != nil {
				return p.refused(form, "the proposed table refuses it: ", err)
			}
			p.valid[key] = true
		}
	}
	if reason != "" {
		p.omit(form, 1, reason)
		return nil
	}
	switch s := statement.(type) {
	case *cql.Insert:
		s.Table = named(p.old)
	case *cql.Update:
		s.Table = named(p.old)
	case *cql.Delete:
		s.Table = named(p.old)
	}
	if _, err := p.Conn.Query(ctx, statement.String(), nil, nil); err != nil {
		return p.refused(form, "the old table refuses it: ", err)
	}
	if text != "" {
		if _, err := p.Conn.Query(ctx, text, nil, nil); err != nil {
			e, fromServer := cqlerr.As(err)
			if !fromServer {
				return err
			}
			failure := "the proposed table refuses " + model.Form(text) + ", which the old one has taken: " + e.Message
			p.proof.Failures = append(p.proof.Failures, failure)
		}
	}
	p.measured(form, model.Form(text), false).Executions++
	return nil
}

// moves returns a reason if an INSERT overwrites a row that has another key in the proposed table: the INSERT alone
// would leave the row of that key.
func (p *prover) moves(ctx context.Context, statement cql.Statement) (reason string, err error) {
	s, ok := statement.(*cql.Insert)
	if !ok {
		return "", nil
	}
	given := map[string]string{}
	for i, c := range s.Columns[:min(len(s.Columns), len(s.Values))] {
		given[c.Name] = s.Values[i].String()
	}
	where, same := "", ""
	for _, c := range keyOf(p.old) {
		if where != "" {
			where += " AND "
		}
		where += column(c) + " = " + given[c.Name]
	}
	var moved []model.Column
	for _, c := range keyOf(p.new) {
		if old := p.old.Column(c.Name); old != nil && old.Kind != "partition_key" && old.Kind != "clustering" {
			moved = append(moved, c)
			same += " AND " + column(c) + " = " + given[c.Name]
		}
	}
	if len(moved) == 0 {
		return "", nil
	}
	query := "SELECT " + columns(moved) + " FROM " + named(p.old).String() + " WHERE " + where
	exist, err := p.Conn.Query(ctx, query, nil, nil)
	if err != nil || len(exist.Rows) == 0 {
		return "", err
	}
	if slices.ContainsFunc(exist.Rows[0], func(b []byte) bool { return b == nil }) {
		return "", nil // the proposed table does not have the row
	}
	equal, err := p.Conn.Query(ctx, query+same+" ALLOW FILTERING", nil, nil)
	if err != nil || len(equal.Rows) > 0 {
		return "", err
	}
	return "it meets a row with another " + columns(moved) + ": the row of the old key has to be deleted from the " +
		"proposed table, and the statement does not have it", nil
}
