package exec

import (
	"context"

	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
)

// authorization runs a statement about roles or permissions.
func (e *Executor) authorization(ctx context.Context, r *Request, p *define.Authorization) (Result, error) {
	answer, err := e.roles.Run(ctx, r.User, &p.Statement)
	if err != nil {
		return nil, err
	}
	if answer.Columns == nil {
		return &Void{Warnings: answer.Warnings}, nil
	}
	out := &Rows{Count: len(answer.Rows), Warnings: answer.Warnings}
	for _, c := range answer.Columns {
		out.Columns = append(out.Columns, planner.ResultColumn{
			Keyspace: "system_auth", Table: c.Table, Name: c.Name, Type: c.Type,
		})
	}
	for _, row := range answer.Rows {
		for _, v := range row {
			out.Cells = appendCell(out.Cells, v)
		}
	}
	return out, nil
}
