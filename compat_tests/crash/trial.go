package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/protocol/client"
)

// trial is a data folder whose server is killed again and again.
type trial struct {
	binary, data, mode string
	disk               *disk // nil: only the process ends
	random             *rand.Rand
	ledger             ledger
	opened             []time.Duration // from the start of the process until it listens
	lost               int
	oldest             time.Duration // how long before a cut a lost write was acknowledged, at most
	wrong              int
	verified           int
}

// window is how much earlier than the last acknowledged write a write was acknowledged, if a power cut may take it in
// the mode periodic: writes wait when the last sync is that old.
const window = 2 * time.Second

// run runs rounds, and checks the data after each.
func (t *trial) run(rounds int) error {
	for range 3 {
		if err := t.interrupt(); err != nil {
			return err
		}
	}
	p, err := t.start()
	if err != nil {
		return err
	}
	defer func() {
		if p != nil {
			_ = p.Kill()
		}
	}()
	if err := create(p.Addr); err != nil {
		return err
	}
	for range rounds {
		cut, err := t.load(p)
		if err != nil {
			return err
		}
		if t.random.IntN(3) == 0 {
			if err := t.interrupt(); err != nil {
				return err
			}
		}
		if t.random.IntN(2) == 0 {
			if err := t.verify(t.data); err != nil {
				return err
			}
		}
		began := time.Now()
		if p, err = t.start(); err != nil {
			return err
		}
		t.opened = append(t.opened, time.Since(began))
		if err := t.look(p.Addr, cut); err != nil {
			return err
		}
	}
	return nil
}

// start starts the server on the folder, after a cut on the disk as it is then.
func (t *trial) start() (*process.Process, error) {
	return process.Start(t.binary, t.arguments()...)
}

func (t *trial) arguments() []string {
	return []string{"serve", "--listen", "127.0.0.1:0", "--data", t.data, "--commitlog-sync", t.mode, "--purge-every", "50ms", "--memtable", "128KiB"}
}

// load writes until it kills the server, and returns the time of the kill.
func (t *trial) load(p *process.Process) (time.Time, error) {
	var wait sync.WaitGroup
	failed := make([]error, workers)
	dead := make(chan struct{})
	for i := range workers {
		w := &worker{id: i, random: rand.New(rand.NewPCG(t.random.Uint64(), 0)), ledger: &t.ledger, dead: dead}
		wait.Go(func() { failed[i] = w.run(p.Addr) })
	}
	run := minRun + time.Duration(t.random.Int64N(int64(maxRun-minRun)))
	if t.mayLose() {
		run += window
	}
	time.Sleep(run)
	cut := time.Now()
	close(dead)
	err := p.Kill()
	wait.Wait()
	return cut, errors.Join(append(failed, err, t.cut())...)
}

// mayLose reports whether a cut may take acknowledged writes.
func (t *trial) mayLose() bool { return t.disk != nil && t.mode == "periodic" }

// cut cuts the disk's power, if the folder is on one.
func (t *trial) cut() error {
	if t.disk == nil {
		return nil
	}
	return t.disk.cut()
}

// interrupt kills a server without clients, while it opens the folder or while it closes it.
func (t *trial) interrupt() error {
	p := exec.Command(t.binary, t.arguments()...)
	if err := p.Start(); err != nil {
		return err
	}
	time.Sleep(time.Duration(t.random.Int64N(int64(longOpen))))
	if t.random.IntN(2) == 0 {
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		time.Sleep(time.Duration(t.random.Int64N(int64(longClose))))
	}
	_ = p.Process.Kill() // it may have ended by itself
	_ = p.Wait()
	return t.cut()
}

// verify runs cqld verify on the folder or on a running server.
func (t *trial) verify(where string) error {
	out, err := exec.Command(t.binary, "verify", "--quiet", where).CombinedOutput()
	if err != nil {
		t.wrong++
		fmt.Printf("round %d: verify: %v\n%s", len(t.opened), err, out)
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			return err
		}
	}
	t.verified++
	return nil
}

// look compares the stored data with the ledger and verifies the running server.
func (t *trial) look(addr string, cut time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := client.Dial(ctx, addr, client.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	stored := map[string]string{}
	for _, k := range kinds {
		if err := k.read(ctx, conn, func(key, state string) { stored[k.name+" "+key] = state }); err != nil {
			return fmt.Errorf("read what is stored of %s: %w", k.name, err)
		}
	}
	if err := t.verify(addr); err != nil {
		return err
	}
	safe := cut
	if t.mayLose() {
		safe = t.ledger.lastSent.Add(-window)
	}
	lost, wrong := t.ledger.settle(stored, safe)
	t.lost += lost
	t.oldest = max(t.oldest, cut.Sub(t.ledger.oldest))
	t.wrong += len(wrong)
	for _, w := range wrong {
		fmt.Printf("round %d: %s\n", len(t.opened), w)
	}
	return nil
}

// create makes the tables of all kinds.
func create(addr string) error {
	ctx := context.Background()
	conn, err := client.Dial(ctx, addr, client.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	all := []string{
		"CREATE KEYSPACE crash WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE KEYSPACE defined WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	}
	for _, k := range kinds {
		all = append(all, k.tables...)
	}
	for _, s := range all {
		if _, err := conn.Query(ctx, s, nil, nil); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// worker is a connection that sends one write at a time.
type worker struct {
	id     int
	random *rand.Rand
	ledger *ledger
	dead   chan struct{} // closed before the server is killed
}

// run writes until the server is gone.
func (w *worker) run(addr string) error {
	ctx := context.Background()
	conn, err := client.Dial(ctx, addr, client.Options{Keyspace: "crash"})
	if err != nil {
		return w.unlessDead(err)
	}
	defer conn.Close()
	for {
		k := kinds[w.random.IntN(len(kinds))]
		if w.random.IntN(100) >= k.share {
			continue
		}
		key := strconv.Itoa(w.id*1000 + w.random.IntN(k.keys))
		p := w.ledger.place(k.name, key)
		statement, state := k.write(w.random, key, p.state())
		w.ledger.send(p, state)
		if _, err := conn.Query(ctx, statement, nil, nil); err != nil {
			return w.unlessDead(fmt.Errorf("%s: %w", brief(statement), err))
		}
		w.ledger.acknowledge(p)
	}
}

// unlessDead returns nil for errors that the kill explains.
func (w *worker) unlessDead(err error) error {
	select {
	case <-w.dead:
		return nil
	default:
		return err
	}
}
