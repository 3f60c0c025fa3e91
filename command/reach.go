package command

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
)

// reach is whether a server reaches the engine that is on other machines. Every call that has ended tells, and where
// there are none, probes do.
type reach struct {
	engine engine.Engine
	calls  *engineCalls

	mu    sync.Mutex
	node  *cluster.Node // that the server is, or nil
	parts [partCount]reachedPart
}

// The parts of a cluster that are reached by themselves: the store may answer while the clock does not.
const (
	storePart = iota
	clockPart
	partCount
)

// reachedPart is what is known of a part.
type reachedPart struct {
	failed   error     // why the last round trip has failed; nil: it has succeeded
	answered time.Time // the last success
	probing  bool
}

// The times of probes. A server is not ready two seconds after the cluster has stopped to answer, at most.
const (
	probeEvery = 250 * time.Millisecond // between looks whether a probe is wanted
	probeAfter = 500 * time.Millisecond // without an answer to any call
	probeLimit = time.Second            // within which a probe has to be answered
)

// The times after which an outage is logged, and its end. Shorter ones are not worth a line.
const (
	outageAfter = time.Second
	outageOver  = 2 * time.Second
)

// probeKey is read by probes. Nothing is there.
var probeKey = []byte{0}

var (
	errNoAnswer = errors.New("no answer within " + probeLimit.String())
	errNoLease  = errors.New("this node has not heard from the others within its lease")
)

// note takes how a call of a part has ended.
func (r *reach) note(part int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.parts[part]
	if p.failed = err; err == nil {
		p.answered = time.Now()
	}
}

// ended takes how a call of the engine has ended. One that has failed for a reason that is not the cluster's, or whose
// caller has given up, tells nothing.
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
	case "view", "scan", "commit", "update", "delete_range": // which take timestamps
		r.note(clockPart, nil)
	}
}

// outage is why the cluster cannot be used; nil: it can.
func (r *reach) outage() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.parts {
		if err := r.parts[i].failed; err != nil {
			return err
		}
	}
	if r.node != nil && !r.node.Holds() {
		return errNoLease
	}
	return nil
}

// start watches the cluster until ctx ends, or the function is called that it returns. node is what the server is in
// it, or nil.
func (r *reach) start(ctx context.Context, node *cluster.Node, log zerolog.Logger) (stop func()) {
	r.mu.Lock()
	r.node = node
	r.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { r.watch(ctx, log) })
	return func() {
		cancel()
		watching.Wait()
	}
}

// watch probes the cluster where no call tells, and logs outages, until ctx ends.
func (r *reach) watch(ctx context.Context, log zerolog.Logger) {
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	var o outageLog
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			r.probe(ctx)
			o.note(r.outage(), now, log)
		}
	}
}

// probe begins probes of the parts that have not answered for a while.
func (r *reach) probe(ctx context.Context) {
	r.probePart(storePart, func() error {
		_, err := r.engine.Get(probeKey, func([]byte) error { return nil })
		return err
	})
	if clock, ok := r.engine.(engine.Clock); ok {
		r.probePart(clockPart, func() error {
			ctx, cancel := context.WithTimeout(ctx, probeLimit)
			defer cancel()
			_, err := clock.Now(ctx)
			return err
		})
	}
}

// probePart asks a part on a goroutine of its own, unless it has answered or is being asked. A call that is not
// answered in time has failed; it may end later, and tells then.
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
		late := time.AfterFunc(probeLimit, func() {
			r.calls.failed.WithLabelValues("probe", kindTimeout).Inc()
			r.note(part, errNoAnswer)
		})
		err := ask()
		if inTime := late.Stop(); inTime && err != nil {
			r.calls.failed.WithLabelValues("probe", errorKind(err)).Inc()
		}
		r.calls.took.WithLabelValues("probe").Observe(time.Since(began).Seconds())
		r.note(part, err)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.parts[part].probing = false
	}()
}

// outageLog logs when an outage begins and when it has ended. Gaps that are shorter than outageOver are part of it.
type outageLog struct {
	began, last time.Time // when it was seen first and last; zero: there is none
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
