package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/internal/certificates"
)

// trial attacks a server, and starts a fresh one after an attack from which it did not recover.
type trial struct {
	settings
	data  string // the folder
	began time.Time

	pace

	server   *server
	filled   bool
	resident int64 // memory of the data of a server in memory
	cage     *cage // nil: the server is not in one
}

// server is a process with its watch and its neighbour.
type server struct {
	process   *process.Process
	watch     *watch
	neighbour *neighbour
	end       context.CancelFunc
	watching  sync.WaitGroup
}

// pace sets how long the parts of an attack take.
type pace struct {
	least     time.Duration // connections stay open at least so long if the attack ends early
	settle    time.Duration // the longest wait for memory and descriptors to be released
	stopAfter time.Duration // from the start of an attack until the server is stopped
	window    time.Duration // the interval over which CPU use is measured; an idle server is watched for some of them
}

var usualPace = pace{
	least: 2 * time.Second, settle: 30 * time.Second, stopAfter: 2 * time.Second, window: 250 * time.Millisecond,
}

// The same at every pace.
const (
	settleLook  = 100 * time.Millisecond // between looks at the memory
	busyCores   = 0.5                    // a server is busy if it uses more; the neighbour needs a tenth of that
	busyWindows = 4                      // idle windows in a row: in one, other processes may have had the processors
	stopLimit   = 15 * time.Second       // a stopping server is killed after this
)

// run runs all attacks, and some again while the server stops.
func (t *trial) run(ctx context.Context) (results []*result, err error) {
	defer func() { t.end() }()
	one := func(a attack, stopping bool) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.late(a) {
			results = append(results, &result{attack: a, broken: []string{"not run: there was no time left"}})
			return nil
		}
		r, err := t.attack(ctx, a, stopping)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		r.judge()
		results = append(results, r)
		fmt.Printf("%4.0f s  %-20s %s\n", time.Since(t.began).Seconds(), a.name, r.line())
		return nil
	}
	if err := one(fillAttack, false); err != nil {
		return results, err
	}
	for _, stopping := range []bool{false, true} {
		for _, a := range t.attacks {
			if stopping && !a.stop {
				continue
			}
			if err := one(a, stopping); err != nil {
				return results, err
			}
		}
	}
	return results, nil
}

// line is the line printed at the end of an attack.
func (r *result) line() string {
	if len(r.broken) > 0 {
		return "BROKEN: " + strings.Split(strings.Join(r.broken, "; "), "\n")[0]
	}
	return "held"
}

// late reports whether an attack could end too late.
func (t *trial) late(a attack) bool {
	return time.Since(t.began)+a.length()+t.settle > t.time
}

func (a attack) length() time.Duration {
	if a.press == 0 {
		return usualPress
	}
	return a.press
}

// attack measures one attack.
func (t *trial) attack(ctx context.Context, a attack, stopping bool) (*result, error) {
	if err := t.start(ctx, !a.fills); err != nil {
		return nil, err
	}
	r := &result{attack: a, resident: t.resident, limit: t.limit}
	var err error
	if stopping {
		err = t.stopDuring(ctx, r)
	} else {
		err = t.press(ctx, r)
	}
	ended, killed := t.server.watch.fate()
	if err != nil && !ended {
		return nil, err
	}
	if r.killed = killed; ended && r.stopped == nil {
		r.ended = true
		_ = t.server.process.Wait() // completes its log
		r.log = shorten(t.server.process.Log())
	}
	if a.fills {
		if err := t.haveFilled(r); err != nil {
			return nil, err
		}
	}
	if t.server != nil && (r.unsettled || ended) {
		t.end()
	}
	return r, nil
}

// shorten keeps the beginning of a log, where a panic has its cause.
func shorten(log string) string {
	const most = 2000
	return log[:min(len(log), most)]
}

// press runs an attack and waits until the server has recovered.
func (t *trial) press(ctx context.Context, r *result) error {
	s := t.server
	if prepare := r.attack.prepare; prepare != nil {
		if err := prepare(ctx, s.process.Addr, t.size); err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
	}
	if _, err := t.rest(ctx); err != nil {
		return err
	}
	s.neighbour.take()
	var err error
	if r.before, err = look(ctx, s.process); err != nil {
		return err
	}
	s.watch.takePeak()
	r.report, err = besiege(ctx, t.order(r.attack), s.watch.gone)
	left := time.Now()
	r.seen = s.neighbour.take()
	if err == nil {
		err = t.settleDown(ctx, r, left)
	}
	r.peak, r.later = s.watch.takePeak(), s.neighbour.take()
	return err
}

// rest waits until the server is idle, and returns how long it was busy.
func (t *trial) rest(ctx context.Context) (busy time.Duration, err error) {
	began := time.Now()
	for free := 0; free < busyWindows; {
		if time.Since(began) > t.settle {
			return t.settle, nil
		}
		window := time.Now()
		before, err := t.server.process.CPU()
		if err != nil {
			return 0, err
		}
		wait(ctx, t.window)
		after, err := t.server.process.CPU()
		if err != nil {
			return 0, err
		}
		if cores := float64(after-before) / float64(time.Since(window)); cores < busyCores {
			free++
			continue
		}
		free, busy = 0, time.Since(began)
	}
	return busy, nil
}

// settleDown waits until the processors are free and the server holds no more memory than before.
func (t *trial) settleDown(ctx context.Context, r *result, left time.Time) error {
	s := t.server
	var err error
	if r.busy, err = t.rest(ctx); err != nil {
		return err
	}
	for {
		after, err := look(ctx, s.process)
		if err == nil {
			r.after = after
			if r.attack.fills || after.asBefore(r.before) {
				r.settled = time.Since(left)
				return nil
			}
		}
		if s.watch.gone() || ctx.Err() != nil {
			return errEnded
		}
		if time.Since(left) > t.settle {
			r.unsettled = true
			return nil
		}
		wait(ctx, settleLook)
	}
}

// stopDuring stops the server while an attack runs.
func (t *trial) stopDuring(ctx context.Context, r *result) error {
	s := t.server
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type attacked struct {
		report report
		err    error
	}
	done := make(chan attacked, 1)
	o := t.order(r.attack)
	o.Stops = true
	go func() {
		reported, err := besiege(ctx, o, s.watch.gone)
		done <- attacked{reported, err}
	}()
	wait(ctx, t.stopAfter)
	if s.watch.gone() {
		cancel()
		r.report = (<-done).report
		return errEnded
	}
	told := time.Now()
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	for !s.watch.gone() && time.Since(told) < stopLimit {
		wait(ctx, memoryEvery)
	}
	ended := time.Now()
	r.peak = s.watch.takePeak()
	r.stopped = &stopping{took: ended.Sub(told), never: !s.watch.gone()}
	if r.stopped.never {
		_ = s.process.Signal(os.Kill) // fails if it ends at this moment
	}
	cancel()
	last := <-done
	if r.report = last.report; last.err != nil {
		return last.err
	}
	r.stopped.linger = ended.Sub(latest(told, r.report.LastAnswer, s.neighbour.last()))
	if err := s.process.Wait(); err != nil {
		r.stopped.exit = err.Error()
	}
	r.stopped.log = stoppingLog(s.process.Log())
	return nil
}

// stoppingLog is the log of a server since the signal to stop.
func stoppingLog(log string) string {
	log = strings.TrimSpace(log)
	told := max(0, strings.LastIndex(log, "stopping:"))
	return log[strings.LastIndexByte(log[:told], '\n')+1:]
}

// order returns the order for the attackers.
func (t *trial) order(a attack) order {
	return order{Attack: a.name, Press: a.length(), Least: t.least, Addr: t.server.process.Addr, Size: t.size}
}

func latest(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if t.After(first) {
			first = t
		}
	}
	return first
}

// last is when the neighbour was last answered.
func (n *neighbour) last() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lastAnswer
}

// start starts a server unless one runs. It defines missing tables, and fills them if filled is set.
func (t *trial) start(ctx context.Context, filled bool) error {
	if t.server != nil {
		return nil
	}
	p, err := t.startProcess()
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	s := &server{process: p, watch: &watch{process: p, safety: t.safety}, neighbour: newNeighbour(p.Addr), end: end}
	t.server = s
	s.watching.Go(func() { s.watch.run(ctx) })
	if t.memory || !t.filled {
		if err := t.fill(ctx, filled); err != nil {
			t.end()
			return fmt.Errorf("fill the tables: %w", err)
		}
	}
	s.watching.Go(func() { s.neighbour.run(ctx) })
	return nil
}

// fill defines the tables, and fills them if filled is set.
func (t *trial) fill(ctx context.Context, filled bool) error {
	if err := define(ctx, t.server.process.Addr); err != nil || !filled {
		return err
	}
	return fill(ctx, t.server.process.Addr, t.size)
}

// haveFilled records the memory of the data, and ends a server on disk, so that the next one starts idle.
func (t *trial) haveFilled(r *result) error {
	if r.ended {
		return fmt.Errorf("%w while its tables were filled: %s", errEnded, r.log)
	}
	if r.report.Failed != "" {
		return fmt.Errorf("fill the tables: %s", r.report.Failed)
	}
	t.filled = true
	if t.memory {
		m, err := t.server.process.Memory()
		t.resident = m.RSS
		return err
	}
	err := t.server.process.Signal(syscall.SIGTERM)
	for err == nil && !t.server.watch.gone() {
		time.Sleep(memoryEvery)
	}
	t.end()
	return err
}

func (t *trial) startProcess() (*process.Process, error) {
	arguments := []string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log-format", "json"}
	if t.memory {
		arguments = append(arguments, "--memory")
	} else {
		arguments = append(arguments, "--data", t.data)
	}
	if t.limit > 0 {
		arguments = append(arguments, "--memory-limit", fmt.Sprint(t.limit))
	}
	certificate, key, err := t.certificate()
	if err != nil {
		return nil, err
	}
	arguments = append(arguments, "--tls", "optional", "--tls-cert", certificate, "--tls-key", key)
	program := t.binary
	if t.cage != nil {
		program, arguments = t.cage.command(program, arguments)
	}
	return process.Start(program, arguments...)
}

// certificate writes a certificate for the server into its data folder.
func (t *trial) certificate() (certificate, key string, err error) {
	a, err := certificates.NewAuthority("hostile")
	if err != nil {
		return "", "", err
	}
	pair, err := a.Server("127.0.0.1")
	if err != nil {
		return "", "", err
	}
	certificate, key = t.data+".crt", t.data+".key"
	return certificate, key, pair.Write(certificate, key)
}

// end ends the server in any state.
func (t *trial) end() {
	s := t.server
	if s == nil {
		return
	}
	t.server = nil
	s.end()
	_ = s.process.Kill() // fails if it has ended
	s.watching.Wait()
}

func newTrial(s settings, folder string) *trial {
	return &trial{settings: s, data: filepath.Join(folder, "data"), began: time.Now(), pace: usualPace}
}
