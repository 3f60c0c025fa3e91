// Command mutations fuzzes a server with invalid sessions: bytes of valid requests are changed, left out, repeated and
// mixed with other requests, words of statements are exchanged, and values have the wrong type. None of this may cause
// a panic, end the server, delay other clients, or leave memory, goroutines or descriptors after the clients have left.
//
//	mutations [-minutes 4] [-seed N] [-workers 8] [-binary FILE]
//
// The time is divided among servers that run one after the other: with the defaults, with TLS, with logins, and with
// both. session.go makes and sends sessions, mutate.go collects the statements and changes texts and bytes, and
// watch.go is a well-behaved client that also checks memory and goroutines at the end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

func main() {
	r := run{scripts: filepath.Join("compat_tests", "scripts")}
	minutes := flag.Float64("minutes", 4, "how long it takes in all")
	flag.Uint64Var(&r.seed, "seed", rand.Uint64(), "what the sessions are made from")
	flag.IntVar(&r.workers, "workers", 8, "how many sessions there are at a time")
	flag.StringVar(&r.only, "only", "", "attack only servers `with` this: TLS, or logins")
	flag.StringVar(&r.binary, "binary", "", "the cqld to start instead of building one")
	flag.Parse()
	r.time = time.Duration(*minutes * float64(time.Minute))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := r.all(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutations:", err)
		os.Exit(1)
	}
}

// run holds the values of the flags.
type run struct {
	seed    uint64
	workers int
	binary  string
	only    string
	time    time.Duration
	scripts string // the folder of the scripts, whose statements are sent
	texts   []string
}

// all attacks one server after the other.
func (r *run) all(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "cqld-mutations-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if r.binary == "" {
		r.binary = filepath.Join(folder, "cqld")
		if err := process.Build(r.binary); err != nil {
			return err
		}
	}
	if r.texts, err = statements(r.scripts); err != nil {
		return err
	}
	fmt.Printf("seed %d, %d statements\n", r.seed, len(r.texts))
	attacked := 0
	for i, s := range []surroundings{{}, {tls: true}, {logins: true}, {tls: true, logins: true}} {
		if !strings.Contains(s.String(), r.only) {
			continue
		}
		if err := s.prepare(folder); err != nil {
			return err
		}
		if err := r.one(ctx, s, uint64(i)); err != nil {
			return fmt.Errorf("%s: %w", &s, err)
		}
		attacked++
	}
	if attacked == 0 {
		return fmt.Errorf("-only: there is no server with %q", r.only)
	}
	return nil
}

// one attacks one server.
func (r *run) one(ctx context.Context, s surroundings, number uint64) (err error) {
	p, err := process.Start(r.binary, s.arguments()...)
	if err != nil {
		return err
	}
	w, err := watchServer(ctx, p, &s)
	if err != nil {
		return errors.Join(err, p.Stop())
	}
	var sent tally
	ctx, cancel := context.WithTimeout(ctx, r.time/4)
	defer cancel()
	var working sync.WaitGroup
	for i := range r.workers {
		working.Go(func() {
			m := &mutator{Rand: rand.New(rand.NewPCG(r.seed, number<<32|uint64(i))), texts: r.texts}
			for ctx.Err() == nil && w.failure() == nil {
				w.fail(session{mutator: m, server: p.Addr, surroundings: &s, sent: &sent}.run(ctx))
			}
		})
	}
	working.Wait()
	err = w.end(p)
	fmt.Printf("%-16s %s, the slowest answer to others took %s; %s\n", &s, &sent, w.slowest().Round(time.Millisecond), w.left)
	return errors.Join(err, p.Stop())
}

// tally counts requests and answers.
type tally struct {
	sessions, requests, answers, errors, closed atomic.Int64
}

// String is a line about them.
func (t *tally) String() string {
	return fmt.Sprintf("%d sessions, %d requests, %d answers, %d of them errors, %d connections closed by the server",
		t.sessions.Load(), t.requests.Load(), t.answers.Load(), t.errors.Load(), t.closed.Load())
}
