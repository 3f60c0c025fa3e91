package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// A scan that makes one row of all rows goes apart when it has lasted for some rows and a processor has nothing to do:
// the tokens that are left become parts, which several goroutines read, each on a turn of its own. Where the scan comes
// by so many tombstones that a warning may be due, or by a row that cannot be computed with, it starts over as one:
// only so it knows which of Cassandra's commands has read them, and which row is the first.
const (
	// apartAfter is how many rows a scan reads between two looks at whether it can go apart.
	apartAfter = 8192

	// apartInto is how many parts the tokens that are left become. Whoever is through with one takes the next.
	apartInto = 16

	// togetherFor is how long scans of a table do not go apart after one that had to start over.
	togetherFor = time.Minute
)

// apart is when a scan goes apart.
type apart struct {
	may  bool
	rows int  // since it looked
	due  bool // at the next partition
}

// mayGoApart reports whether the read is one that goes apart.
func (r *reading) mayGoApart(req *Request) bool {
	all, ok := r.gather.(*aggregation)
	return ok && r.read.Turn.Begun() && r.read.Keys == nil && r.read.After == nil && !r.plan.Indexed && req.Touched == nil &&
		r.page.perPartition == noLimit &&
		!r.plan.Table.TakenByCode() && !r.e.store.Remote() && all.merges() && r.e.together.over(r.plan.Table.ID)
}

// goesApart counts a row of a partition. It reports whether the read ends in front of it, to go on in parts.
func (r *reading) goesApart(partition []byte) bool {
	if r.apart.rows++; r.apart.rows >= apartAfter {
		r.apart.rows = 0
		r.apart.due = int64(r.tombstones.Tombstones) <= r.e.settings.TombstoneWarn && r.read.Turn.Spare()
	}
	if !r.apart.due || r.static.set || !r.page.entered || r.page.isIn(partition) {
		return false
	}
	if r.apart.due = r.read.Turn.Spare(); !r.apart.due {
		return false
	}
	r.position = store.Position{Partition: bytes.Clone(r.page.partition), Whole: true}
	r.page.again = true
	return true
}

// parts is what a scan becomes when it goes apart.
type parts struct {
	whole *reading
	req   *Request
	ends  [apartInto]int64 // the last token of each part
	read  [apartInto]*reading
	next  atomic.Int32 // part that nobody has begun

	tombstones atomic.Int64 // of parts that are read

	failing  sync.Once
	err      error
	panicked string // what the goroutine of the request panics with; empty: nothing did
	cancel   context.CancelFunc
}

// readParts reads what is behind r.position. It reports false if the scan has to start over.
func (r *reading) readParts(ctx context.Context, req *Request) (through bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &parts{whole: r, req: req, cancel: cancel}
	p.tombstones.Store(int64(r.tombstones.Tombstones))
	if !p.divide() {
		return false, nil
	}
	var others sync.WaitGroup
	helped := false
	for range apartInto - 1 {
		turn := new(pace.Turn)
		if !turn.BeginBeside(ctx, r.read.Turn) {
			break
		}
		helped = true
		others.Go(func() {
			defer turn.End()
			p.work(ctx, turn)
		})
	}
	if !helped {
		return false, nil
	}
	p.work(ctx, r.read.Turn)
	ended := make(chan struct{})
	go func() {
		others.Wait()
		close(ended)
	}()
	if err := r.read.Turn.Await(ended); err != nil {
		p.fail(err)
		<-ended
	}
	return p.join()
}

// divide divides the tokens that are left. It reports false if there are too few.
func (p *parts) divide() bool {
	first, last := types.Token(p.whole.position.Partition), int64(math.MaxInt64)
	if t := p.whole.read.Tokens; t != (store.TokenRange{}) {
		if last = t.End; !t.EndInclusive {
			last--
		}
	}
	left := uint64(last) - uint64(first)
	if last < first || left < apartInto {
		return false
	}
	for i := range p.ends {
		p.ends[i] = first + int64(left/apartInto*uint64(i+1))
	}
	p.ends[apartInto-1] = last
	return true
}

// work reads parts on a turn until all are begun or one has failed.
func (p *parts) work(ctx context.Context, turn *pace.Turn) {
	defer func() {
		if panicked := recover(); panicked != nil {
			text := fmt.Sprintf("%v, in a part of a scan:\n%s", panicked, debug.Stack())
			p.failing.Do(func() { p.panicked = text })
			p.cancel()
		}
	}()
	for {
		i := int(p.next.Add(1)) - 1
		if i >= len(p.read) {
			return
		}
		err := ctx.Err()
		if err == nil {
			p.read[i] = readings.Get().(*reading)
			err = p.readPart(ctx, p.read[i], i, turn)
		}
		if err != nil {
			p.fail(err)
			return
		}
	}
}

// fail ends all parts, for the first of several reasons.
func (p *parts) fail(err error) {
	p.failing.Do(func() { p.err = err })
	p.cancel()
}

// readPart reads one part.
func (p *parts) readPart(ctx context.Context, r *reading, i int, turn *pace.Turn) error {
	req := *p.req
	req.Turn, req.Now, req.HasNow, req.Guard, req.Work = turn, p.whole.x.Now, true, nil, nil
	r.e, r.plan = p.whole.e, p.whole.plan
	if err := r.begin(&req); err != nil {
		return err
	}
	r.countTombstones()
	r.tombstones.Max = min(r.tombstones.Max, int(r.e.settings.TombstoneWarn))
	r.read.Tokens = store.TokenRange{Bounded: true, End: p.ends[i], EndInclusive: true}
	if i == 0 {
		r.read.Tokens.Start, r.read.Tokens.StartInclusive = types.Token(p.whole.position.Partition), true
		r.read.After = &p.whole.position
	} else {
		r.read.Tokens.Start = p.ends[i-1]
	}
	err := r.e.store.Read(ctx, &r.read, r.onRow)
	if err == nil {
		_, err = r.showStatic()
	}
	turn.Give(int64(r.kept.held + r.gather.(*aggregation).held))
	if err == nil && p.tombstones.Add(int64(r.tombstones.Tombstones)) > r.e.settings.TombstoneWarn {
		err = store.ErrTombstones
	}
	return err
}

// join makes one aggregation of those of all parts.
func (p *parts) join() (through bool, err error) {
	if p.panicked != "" {
		panic(p.panicked)
	}
	for _, part := range p.read {
		if part != nil {
			defer part.release()
		}
	}
	r := p.whole
	if errors.Is(p.err, store.ErrTombstones) {
		r.e.together.begin(r.plan.Table.ID)
		return false, nil
	}
	if _, refused := cqlerr.As(p.err); refused {
		return false, nil // the first row that it is about decides
	}
	if p.err != nil {
		return false, p.err
	}
	all := r.gather.(*aggregation)
	for _, part := range p.read {
		all.merge(part.gather.(*aggregation))
		r.tombstones.Rows += part.tombstones.Rows
		r.tombstones.Tombstones += part.tombstones.Tombstones
		r.tombstones.Peak = max(r.tombstones.Peak, r.tombstones.Tombstones)
	}
	return true, nil
}

// startOver forgets what was read, and does not go apart again.
func (r *reading) startOver() {
	r.apart = apart{}
	r.gather.(*aggregation).restart(r.plan.Selection)
	r.static.drop()
	r.page.entered, r.aggregatedRows, r.read.After = false, 0, nil
	r.tombstones = store.TombstonesRead{}
	r.countTombstones()
}

// together has the tables whose scans do not go apart for a while.
type together struct{ until sync.Map } // table ID: time

// begin begins the while.
func (t *together) begin(table [16]byte) {
	t.until.Range(func(other, _ any) bool { t.over(other.([16]byte)); return true })
	t.until.Store(table, time.Now().Add(togetherFor))
}

// over reports whether it is over.
func (t *together) over(table [16]byte) bool {
	until, ok := t.until.Load(table)
	if ok && time.Now().After(until.(time.Time)) {
		t.until.Delete(table)
		return true
	}
	return !ok
}

// merges reports whether aggregations of some rows each can become one.
func (a *aggregation) merges() bool {
	for _, s := range a.states {
		if m, ok := s.(expr.Merging); !ok || !m.Merges() {
			return false
		}
	}
	return true
}

// merge adds the rows of another aggregation, which are behind its own.
func (a *aggregation) merge(behind *aggregation) {
	for i, s := range a.states {
		s.(expr.Merging).Merge(behind.states[i])
	}
}
