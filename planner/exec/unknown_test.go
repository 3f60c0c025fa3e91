package exec_test

import (
	"context"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/engine"
)

// doubtful is an engine that stores what it is given, and can say that it does not know.
type doubtful struct {
	engine.Engine
	doubts bool
}

func (d *doubtful) Commit(ops []engine.Op, done func(error)) { d.Engine.Commit(ops, d.doubt(done)) }

func (d *doubtful) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	d.Engine.Update(ctx, guards, fn, d.doubt(done))
}

// doubt is the outcome of a write as the engine tells it.
func (d *doubtful) doubt(done func(error)) func(error) {
	return func(err error) {
		if d.doubts {
			err = engine.ErrUnknown
		}
		done(err)
	}
}

// TestUnknownWrite makes the engine lose sight of writes: the client is told of a timeout, as nobody knows what is
// stored.
func TestUnknownWrite(t *testing.T) {
	var d *doubtful
	s := newSessionOn(t, func(e engine.Engine) engine.Engine {
		d = &doubtful{Engine: e}
		return d
	})
	s.must(simple)
	s.must("USE ks")
	s.must("CREATE TABLE t (k int PRIMARY KEY, v int)")
	s.must("CREATE TABLE c (k int PRIMARY KEY, v counter)")
	d.doubts = true
	defer func() { d.doubts = false }()
	for statement, writeType := range map[string]string{
		"INSERT INTO t (k, v) VALUES (1, 1)":                                                         "SIMPLE",
		"BEGIN BATCH INSERT INTO t (k, v) VALUES (1, 1) APPLY BATCH":                                 "SIMPLE", // of one partition
		"BEGIN UNLOGGED BATCH INSERT INTO t (k, v) VALUES (1, 1) APPLY BATCH":                        "SIMPLE",
		"BEGIN BATCH INSERT INTO t (k) VALUES (1) INSERT INTO t (k) VALUES (2) APPLY BATCH":          "BATCH",
		"BEGIN UNLOGGED BATCH INSERT INTO t (k) VALUES (1) INSERT INTO t (k) VALUES (2) APPLY BATCH": "UNLOGGED_BATCH",
		"BEGIN COUNTER BATCH UPDATE c SET v = v + 1 WHERE k = 1 APPLY BATCH":                         "COUNTER",
		"UPDATE c SET v = v + 1 WHERE k = 1":                                                         "COUNTER",
	} {
		_, err := s.run(statement, exec.Options{Consistency: cqlerr.LocalOne})
		e, ok := cqlerr.As(err)
		want := cqlerr.TimeoutDetail{Consistency: cqlerr.LocalOne, BlockFor: 1, WriteType: writeType}
		if !ok || e.Code != cqlerr.WriteTimeout || e.Detail != want {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
