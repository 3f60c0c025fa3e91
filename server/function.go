package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/exec"
)

// Function defines a user's function that is called in the program. A CREATE FUNCTION statement, usually with OR
// REPLACE, declares it, and bind returns the Go function once the types of the statement are known. The body, which
// DESCRIBE shows, runs only when the store has been opened again and Function has not been called again. Images of the
// store keep the Go function.
//
// The nodes of a cluster cannot call functions of each other, so it fails where the store shares its engine.
func (s *Server) Function(
	ctx context.Context, statement string, bind func(*schema.Function) (schema.GoFunc, error),
) error {
	if s.cluster != nil {
		return errors.New("the other nodes of the cluster cannot call a function in Go")
	}
	st, err := s.planner.Plan(nil, nil, statement, "", true, time.Now())
	if err != nil {
		return err
	}
	plan, ok := st.Plan.Plan.(*define.CreateFunction)
	if !ok {
		return fmt.Errorf("%q is no CREATE FUNCTION", statement)
	}
	plan.Bind = bind
	var change *exec.SchemaChange
	s.exec.Execute(ctx, &exec.Request{Prepared: st.Plan}, func(result exec.Result, failed error) {
		change, _ = result.(*exec.SchemaChange)
		err = failed
	})
	if change != nil {
		s.schemaChanged(change.Events)
		s.publish(change.Events)
	}
	return err
}
