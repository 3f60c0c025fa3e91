package exec

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/cqld/cqld/auth/roles"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/exec/replicas"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/store"
	"github.com/rs/zerolog"
)

// Executor runs plans against a store. It may be used concurrently.
type Executor struct {
	store *store.Store
	log   zerolog.Logger
	ids   *identifiers
	roles *roles.Keeper // nil: clients do not log in

	settings *guardrail.Settings

	strictIn string // the node's datacenter, if StrictReplicas was called
}

// StrictReplicas makes the executor answer Unavailable if a consistency level needs more replicas than the one that
// this node is, in a datacenter. Otherwise the node counts as all replicas that a keyspace asks for. It is called
// before the first execution. It does not matter to requests with a View, whose ring has nodes to be replicas.
func (e *Executor) StrictReplicas(datacenter string) { e.strictIn = datacenter }

// New returns an executor on a store. keeper has its roles; nil: clients do not log in. Nil settings are the defaults.
func New(s *store.Store, keeper *roles.Keeper, settings *guardrail.Settings, log zerolog.Logger) *Executor {
	if settings == nil {
		settings = guardrail.Default()
	}
	return &Executor{store: s, log: log, settings: settings, ids: newIdentifiers(s.Now), roles: keeper}
}

// Execute runs one statement and calls done exactly once: before it returns, or later from another
// goroutine. The request, its values and the rows given to done are the caller's again afterwards. Values bound to a
// conditional write stay valid until then; other writes do not use them after Execute returns.
func (e *Executor) Execute(ctx context.Context, r *Request, done func(Result, error)) {
	switch p := r.Prepared.Plan.(type) {
	case *planner.Select:
		e.read(ctx, r, p, done)
	case *planner.Modification:
		e.modify(ctx, r, p, done)
	case *planner.Batch:
		e.batch(ctx, r, p, done)
	case *define.Truncate:
		done(e.truncate(ctx, r, p))
	case *planner.Use:
		done(e.use(p))
	case define.Definition:
		done(e.define(ctx, r, p))
	case *define.Authorization:
		done(e.authorization(ctx, r, p))
	case *define.Describe:
		answer, err := e.describe(ctx, r, p)
		done(answer, readFailure(err, r))
	default:
		done(nil, fmt.Errorf("nothing runs a %T", p))
	}
}

// use answers USE. The server changes the session.
func (e *Executor) use(p *planner.Use) (Result, error) {
	if err := planner.CheckUse(e.store.Catalog(), p.Keyspace); err != nil {
		return nil, err
	}
	return &SetKeyspace{Keyspace: p.Keyspace}, nil
}

// truncate removes all rows of a table.
func (e *Executor) truncate(ctx context.Context, r *Request, p *define.Truncate) (Result, error) {
	if p.Refused != nil {
		return nil, p.Refused
	}
	if err := checkLevel(r.Consistency); err != nil {
		return nil, err
	}
	if err := r.Guard.DropTable(); err != nil {
		return nil, err
	}
	if v := r.View; v != nil {
		if !v.AllUp() {
			return nil, cqlerr.TruncateUnavailable()
		}
		if slowest := v.Slowest(); slowest > r.Timeout {
			wait := replicas.Wait{Time: r.Timeout, Late: cqlerr.TruncateTimedOut()}
			return nil, wait.Sleep(r.Sleep)
		} else if slowest > 0 {
			if err := r.Sleep(slowest); err != nil {
				return nil, err
			}
		}
	}
	if err := e.store.Truncate(ctx, p.Table); err != nil {
		return nil, fmt.Errorf("truncate %s.%s: %w", p.Table.Keyspace, p.Table.Name, err)
	}
	return &Void{}, nil
}

// env is the environment of functions in an execution that begins now.
func (e *Executor) env() *expr.Env {
	return &expr.Env{Now: e.store.Now(), UUID: e.ids.random, TimeUUID: e.ids.time}
}

// now is the second that an execution counts TTLs from.
func (e *Executor) now(o *Options) int64 { return o.now(e.store.Now()) }

// now is the second that a request counts TTLs from, if it is executed at a time.
func (o *Options) now(t time.Time) int64 {
	if o.HasNow {
		return o.Now
	}
	return t.Unix()
}

// identifiers makes the values of uuid() and now(), and the places of elements in lists.
type identifiers struct {
	clock  func() time.Time
	times  *types.UUIDClock // its node is random, and drawn when the process starts
	random func() [16]byte
	time   func() [16]byte
}

func newIdentifiers(clock func() time.Time) *identifiers {
	var node [8]byte
	_, _ = rand.Read(node[:]) // it never fails
	times := types.NewUUIDClock(node)
	return &identifiers{
		clock: clock, times: times, random: randomUUID,
		time: func() [16]byte { return times.Next(clock()) },
	}
}

// randomUUID is a version 4 UUID.
func randomUUID() [16]byte {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	return types.RandomUUID(random)
}

// appendPlace appends the place of an element at the end of a list, or at its beginning: after or before all
// others.
func (ids *identifiers) appendPlace(dst []byte, front bool) []byte {
	at := ids.times.Ticks(ids.clock())
	if front {
		at = -at
	}
	return store.AppendPlace(dst, at, ids.times.Rest())
}
