package command

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
)

// reach tracks whether a remote engine answers: from the outcome of each call, and from probes when there are no
// calls.
type reach struct {
	engine engine.Engine
	calls  *engineCalls

	mu    sync.Mutex
	node  *cluster.Node // this server in its cluster, or nil
	parts [partCount]reachedPart
}

// The parts of a remote engine. Its store may answer while its clock does not.
const (
	storePart = iota
	clockPart
	partCount
)

// reachedPart is the state of a part.
type reachedPart struct {
	failed   error     // of the last round trip; nil if it succeeded
	answered time.Time // the last success
	probing  bool
}

// The times of probes. Two seconds after the cluster stops answering, at the latest, the server is not ready.
const (
	probeInterval = 250 * time.Millisecond // between two checks whether a probe is needed
	probeAfter    = 500 * time.Millisecond // without a response to any call
	probeTimeout  = time.Second
)

// lapseTolerance is for how long a lease may have ended: statements wait for it, and on a busy machine it is often
// renewed a moment too late.
const lapseTolerance = time.Second

// Outages shorter than outageAfter are not logged. Gaps shorter than outageOver belong to an outage.
const (
	outageAfter = time.Second
	outageOver  = 2 * time.Second
)

// probeKey is the key that probes read. It has no value.
var probeKey = []byte{0}

var (
	errNoAnswer = errors.New("no answer within " + probeTimeout.String())
	errNoLease  = errors.New("this node has not heard from the others within its lease")
)

// note takes the outcome of a round trip to a part.
func (r *reach) note(part int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.parts[part]
	if p.failed = err; err == nil {
		p.answered = time.Now()
	}
}

// ended takes the outcome of a call. Failures that the cluster has not caused count for nothing, nor do calls whose
// caller has given up.
func (r *reach) ended(call string, failure error) {
	part := storePart
	if call == "time" {
		part = clockPart
	}
	if failure != nil && errorKind(failure) != kindConflict {
		switch errorKind(failure) {
		case kindUnknown, kindRefused, kindOther:
			r.note(part, failure)
		}
		return
	}
	r.note(part, nil)
	switch call {
	case "view", "scan", "commit", "update", "delete_range": // these take timestamps of the clock
		r.note(clockPart, nil)
	}
}

// outage returns the reason why the cluster cannot be used, or nil.
func (r *reach) outage() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.parts {
		if err := r.parts[i].failed; err != nil {
			return err
		}
	}
	if r.node != nil && r.node.Lapsed() > lapseTolerance {
		return errNoLease
	}
	return nil
}

// start watches the cluster until ctx ends or stop is called. node is this server in the cluster, or nil.
func (r *reach) start(ctx context.Context, node *cluster.Node, log zerolog.Logger) (stop func()) {
	r.mu.Lock()
	r.node = node
	r.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { panics.Run(&log, func() { r.watch(ctx, log) }) })
	return func() {
		cancel()
		watching.Wait()
	}
}

// watch probes the cluster and logs outages until ctx ends.
func (r *reach) watch(ctx context.Context, log zerolog.Logger) {
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	var o outageLog
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			panics.Run(&log, func() {
				r.probe(ctx)
				o.note(r.outage(), now, log)
			})
		}
	}
}

// probe begins a probe of each part that has not answered for a while.
func (r *reach) probe(ctx context.Context) {
	r.probePart(storePart, func() error {
		_, err := r.engine.Get(probeKey, func([]byte) error { return nil })
		return err
	})
	if clock, ok := r.engine.(engine.Clock); ok {
		r.probePart(clockPart, func() error {
			ctx, cancel := context.WithTimeout(ctx, probeTimeout)
			defer cancel()
			_, err := clock.Timestamp(ctx, 1)
			return err
		})
	}
}

// probePart probes a part in the background, unless it has answered lately or is being probed. A probe fails after
// probeTimeout; its outcome still counts when it ends later.
func (r *reach) probePart(part int, ask func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.parts[part]
	if p.probing || time.Since(p.answered) < probeAfter {
		return
	}
	p.probing = true
	go func() {
		began := time.Now()
		late := time.AfterFunc(probeTimeout, func() {
			r.calls.fail("probe", kindTimeout)
			r.note(part, errNoAnswer)
		})
		err := panics.Call(ask)
		if inTime := late.Stop(); inTime && err != nil {
			r.calls.fail("probe", errorKind(err))
		}
		r.calls.ended("probe", time.Since(began))
		r.note(part, err)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.parts[part].probing = false
	}()
}

// outageLog logs the beginning and the end of each outage.
type outageLog struct {
	began, last time.Time // when the outage was seen first and last; zero if there is none
	logged      bool
}

func (o *outageLog) note(outage error, now time.Time, log zerolog.Logger) {
	switch {
	case outage != nil && o.began.IsZero():
		o.began, o.last = now, now
	case outage != nil:
		o.last = now
	case !o.began.IsZero() && (!o.logged || now.Sub(o.last) >= outageOver):
		if o.logged {
			log.Info().Dur("after", o.last.Sub(o.began)).Msg("the cluster answers again")
		}
		*o = outageLog{}
	}
	if outage != nil && !o.logged && now.Sub(o.began) >= outageAfter {
		o.logged = true
		log.Error().Err(outage).Msg("the cluster does not answer: requests fail until it does")
	}
}
