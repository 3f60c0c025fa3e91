package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// options are the options of the command.
type options struct {
	seed            uint64
	statements      int
	duration        time.Duration // 0: statements decide
	only            string
	first           int    // scenario
	shows           int    // the maximum number of differences to show
	settings        string // guardrails of both servers; "": none
	cassandra, cqld string
	out             io.Writer
}

// workers is how many scenarios run concurrently.
const workers = 6

// Differences that look alike are shrunk and shown a few times, those in errors once; the others are counted.
const (
	showsPerCause = 3
	showsPerError = 1
)

// runner runs the scenarios of a run.
type runner struct {
	o        *options
	families []*family
	deadline time.Time
	began    time.Time
	unused   chan string // keyspaces to drop, the slowest statement of Cassandra

	mu         sync.Mutex
	next       int // scenario
	planned    int // statements, in the scenarios begun
	statements int
	late       int // scenarios given up because a server did not answer in time
	causes     map[string]int
	tolerated  map[string]int
	findings   []*finding
	names      int // of tables
}

// finding is a difference to show, with the scenario up to its step.
type finding struct {
	number   int // of the scenario in the run
	family   *family
	scenario *scenario
	*difference
}

// run sends statements until there are enough, and returns the number of differences.
func run(ctx context.Context, o options) (found int, err error) {
	r := &runner{
		o: &o, began: time.Now(), causes: map[string]int{}, tolerated: map[string]int{}, unused: make(chan string, 100),
	}
	if r.families, err = findFamilies(o.only, o.settings != ""); err != nil {
		return 0, err
	}
	r.next = o.first
	if o.duration > 0 {
		r.deadline = r.began.Add(o.duration)
	}
	if o.settings != "" {
		if err := createOrdinary(ctx, r.o); err != nil {
			return 0, err
		}
	}
	if err := createKeyspace(ctx, r.o, r.keyspace()); err != nil {
		return 0, err
	}
	var dropped error
	var dropper sync.WaitGroup
	dropper.Go(func() { dropped = r.dropUnused(ctx) })
	err = parallel(func() error { return r.work(ctx) })
	found = r.summary(time.Since(r.began))
	slices.SortStableFunc(r.findings, func(a, b *finding) int { return a.surprise() - b.surprise() })
	for _, f := range r.findings {
		fmt.Fprintf(o.out, "%s\n\n", strings.Join(f.lines(), "\n"))
	}
	err = errors.Join(err, parallel(func() error { return r.showAll(ctx) }))
	r.unused <- r.keyspace()
	close(r.unused)
	dropper.Wait()
	return found, errors.Join(err, dropped)
}

// surprise orders findings: differences outside errors come first, the text of an error last.
func (f *finding) surprise() int {
	switch {
	case !f.told():
		return 0
	case strings.HasPrefix(f.aspect, "outcome"):
		return 1
	}
	return 2
}

// parallel runs the same in each worker.
func parallel(work func() error) error {
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { errs[i] = work() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// dropUnused drops keyspaces until the channel is closed.
func (r *runner) dropUnused(ctx context.Context) (err error) {
	for keyspace := range r.unused {
		err = errors.Join(err, dropKeyspace(ctx, r.o, keyspace))
	}
	return err
}

// work runs one scenario after the other.
func (r *runner) work(ctx context.Context) error {
	for {
		n, f, statements := r.take(ctx)
		if f == nil {
			return ctx.Err()
		}
		if err := r.scenario(ctx, n, f, statements); err != nil {
			return fmt.Errorf("scenario %d (%s): %w", n, f.name, err)
		}
	}
}

// take chooses the family of the next scenario and its number of statements; no family ends the run.
func (r *runner) take(ctx context.Context) (n int, f *family, statements int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	enough := r.planned >= r.o.statements
	if !r.deadline.IsZero() {
		enough = time.Now().After(r.deadline)
	}
	if enough || ctx.Err() != nil {
		return 0, nil, 0
	}
	n = r.next
	f = r.families[n%len(r.families)]
	if statements = f.statements; r.deadline.IsZero() {
		statements = min(statements, r.o.statements-r.planned)
	}
	r.next++
	r.planned += statements
	return n, f, statements
}

// keyspace is the keyspace of the run, for scenarios with one table. Each run has a different one: a server may still
// be dropping the keyspaces of an earlier run.
func (r *runner) keyspace() string {
	return fmt.Sprintf("differ_%d_%s", r.o.seed, strconv.FormatInt(r.began.UnixMilli(), 36))
}

// tableName is a name that no other scenario and no try of the shrinker has.
func (r *runner) tableName() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names++
	return fmt.Sprintf("t%05d", r.names)
}

// scenario runs one scenario up to the step that makes the servers' tables different.
func (r *runner) scenario(ctx context.Context, n int, f *family, statements int) (err error) {
	s := f.makeScenario(newGen(r.o.seed, uint64(n)), statements)
	p, err := r.open(ctx, f, s.version)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.release(p)) }()
	for i, st := range s.steps {
		d, cassandra, cqld := p.send(ctx, st)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if late(cassandra, cqld) {
			r.giveUp()
			return nil
		}
		r.note(&finding{n, f, s.with(s.steps[:i+1]), d})
		if d != nil && d.end || st.production == "table" && cassandra[len(cassandra)-1].failed() {
			return nil
		}
	}
	return nil
}

// giveUp counts a scenario that cannot go on.
func (r *runner) giveUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late++
}

// note counts a step, and keeps its difference if it should be shown.
func (r *runner) note(f *finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statements++
	switch {
	case f.difference == nil:
	case f.tolerated != "":
		r.tolerated[f.tolerated]++
	default:
		r.causes[f.cause()]++
		if n := r.causes[f.cause()]; len(r.findings) < r.o.shows && (n <= showsPerError || n <= showsPerCause && !f.told()) {
			r.findings = append(r.findings, f)
		}
	}
}

// showAll shows all findings.
func (r *runner) showAll(ctx context.Context) error {
	for {
		r.mu.Lock()
		if len(r.findings) == 0 || ctx.Err() != nil {
			r.mu.Unlock()
			return ctx.Err()
		}
		f := r.findings[0]
		r.findings = r.findings[1:]
		r.mu.Unlock()
		if err := r.show(ctx, f); err != nil {
			return fmt.Errorf("scenario %d (%s): %w", f.number, f.family.name, err)
		}
	}
}

// summary prints the findings, and returns the number of differences.
func (r *runner) summary(took time.Duration) (found int) {
	for _, n := range r.causes {
		found += n
	}
	fmt.Fprintf(r.o.out, "%d statements in %d scenarios, %s; %d differences of %d kinds\n", r.statements, r.next-r.o.first,
		took.Round(time.Second), found, len(r.causes))
	if r.late > 0 {
		fmt.Fprintf(r.o.out, "  %d scenarios given up: no answer in time\n", r.late)
	}
	for _, name := range slices.Sorted(maps.Keys(r.tolerated)) {
		fmt.Fprintf(r.o.out, "  %d tolerated: %s\n", r.tolerated[name], name)
	}
	for _, cause := range slices.Sorted(maps.Keys(r.causes)) {
		fmt.Fprintf(r.o.out, "  %d differences: %s\n", r.causes[cause], cause)
	}
	fmt.Fprintln(r.o.out)
	return found
}
