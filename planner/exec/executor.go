package exec

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/auth/roles"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// functionMemory is how many bytes a call of a user's function may allocate, garbage included.
const functionMemory = 64 << 20

// heapSize is how many bytes all calls may allocate at a time, without the first MiB of each. One call more may take as
// much as it needs, so that calls which wait for memory with some of it do not wait for each other.
func heapSize() int64 {
	return min(max(debug.SetMemoryLimit(-1)/8, functionMemory), 4*functionMemory)
}

// Executor runs plans against a store. It may be used concurrently.
type Executor struct {
	store *store.Store
	log   zerolog.Logger
	ids   *identifiers
	roles *roles.Keeper // nil: clients do not log in

	settings *guardrail.Settings
	limits   functions.Limits // of users' functions
	heap     *pace.Room       // that their calls share

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
	limits := functions.Limits{
		Disabled: !settings.UserFunctionsEnabled, Memory: functionMemory,
		Warn: time.Duration(settings.UserFunctionsWarn) * time.Millisecond,
		Fail: time.Duration(settings.UserFunctionsFail) * time.Millisecond,
	}
	return &Executor{store: s, log: log, settings: settings, limits: limits, heap: pace.NewRoom(heapSize()), ids: newIdentifiers(s.Now), roles: keeper}
}

// env is the environment of functions in an execution that begins now. What waits for memory waits on the turn, or
// until ctx ends if there is none.
func (e *Executor) env(ctx context.Context, turn *pace.Turn, step func() error) *expr.Env {
	env := &expr.Env{Now: e.store.Now(), UUID: e.ids.random, TimeUUID: e.ids.time, Limits: e.limits, Step: step}
	env.Hold = func(n int64) (err error) {
		switch {
		case n <= 0:
			e.heap.Leave(env, -n)
		case turn != nil:
			err = turn.Take(e.heap, env, n)
		case e.heap.Take(ctx, env, n) != nil:
			err = context.Cause(ctx)
		}
		if err != nil {
			return &expr.Ended{Cause: err}
		}
		return nil
	}
	return env
}

// failure is the result that goes with an error: the warnings of users' functions.
func failure(env *expr.Env) Result {
	if env == nil || len(env.Warnings) == 0 {
		return nil
	}
	return &Void{Warnings: env.Warnings}
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

// appendSharedPlace is appendPlace where nodes share the store: their clocks do not order places, timestamps do. All
// elements of a write have its timestamp, and are in the order of their numbers. The rest is random, because
// concurrent writes may have the same timestamp.
func appendSharedPlace(dst []byte, timestamp int64, number uint64, front bool) []byte {
	at := new(types.UUIDClock).Ticks(time.UnixMicro(timestamp))
	if front {
		at, number = -at, ^number
	}
	const randomBits = 40
	return store.AppendPlace(dst, at, number<<randomBits|mathrand.Uint64()>>(64-randomBits))
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
