package command

import (
	"context"
	"errors"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/advise"
	"github.com/cqld/cqld/protocol/client/advise/prove"
	"github.com/cqld/cqld/protocol/client/model"
)

// maxProofValues is how many bytes of bound values are recorded for proofs.
const maxProofValues = 64 << 20

// addProofs adds proofs to a report. conn is to the server that has the tables.
func (o *adviseOptions) addProofs(
	ctx context.Context, report *advise.Report, conn *client.Conn, statements []model.Statement,
) error {
	return prove.Prove(ctx, report.Findings, o.proveTime, prove.Options{
		Source: conn, Statements: statements,
		Start: func(ctx context.Context) (*prove.Server, error) {
			s, err := startScratch(ctx)
			if err != nil {
				return nil, err
			}
			return &prove.Server{Conn: s.conn, Define: s.define, Cost: s.cost, Close: s.close}, nil
		},
	})
}

// provable returns the statements that a server has recorded, and refuses servers whose tables cannot be proven.
func provable(ctx context.Context, query model.Query) ([]model.Statement, error) {
	peers, err := query(ctx, "SELECT peer FROM system.peers")
	if err != nil {
		return nil, err
	}
	if len(peers.Rows) > 0 {
		return nil, errors.New("--prove needs a single node: statements are recorded by the node that has coordinated them")
	}
	return model.Statements(ctx, query)
}

// define runs a definition.
func (s *scratch) define(ctx context.Context, text string) error {
	statement, _, err := parser.Parse(text)
	if err != nil {
		return err
	}
	return s.runStatement(ctx, statement, text)
}

// cost is the cost of the recorded statements, which it forgets.
func (s *scratch) cost() (sum advise.Cost) {
	for _, one := range s.record.Statements() {
		sum.Add(advise.Cost{RowsRead: int64(one.RowsRead), Tombstones: int64(one.Tombstones)})
	}
	s.record.Forget()
	return sum
}

// statements are the recorded statements with their values.
func (s *scratch) statements(ctx context.Context) ([]model.Statement, error) {
	values := map[int64][]string{}
	for _, one := range s.record.Statements() {
		values[one.Number] = one.Values
	}
	all, err := model.Statements(ctx, model.QueryOn(s.conn))
	for i := range all {
		all[i].Values = values[all[i].Number]
	}
	return all, err
}
