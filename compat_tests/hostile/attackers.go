package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// order configures the process of the attackers. It is passed as JSON in the environment.
type order struct {
	Attack string
	Press  time.Duration // the longest duration of the attack
	Least  time.Duration // connections stay open at least so long if the attack ends early
	Addr   string
	Size   sizes
	Stops  bool // the server gets SIGTERM meanwhile
}

// report is the output of that process, after it has closed its connections.
type report struct {
	Tally      map[string]int // the number of answers and failures of each kind
	Slowest    time.Duration  // the longest latency of a client that reads
	LastAnswer time.Time      // to a client that reads, or to any client if the server is stopping
	Failed     string         // why the attack could not go on
}

// orderVariable is the environment variable with the order.
const orderVariable = "CQLD_HOSTILE_ORDER"

// besiege runs an attack in a separate process, and returns when its connections are closed. It ends the attack
// when ctx ends or the server is gone.
func besiege(ctx context.Context, o order, gone func() bool) (r report, err error) {
	me, err := os.Executable()
	if err != nil {
		return r, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return r, err
	}
	cmd := exec.Command("nice", "-n", "10", me)
	cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return r, err
	}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for over := false; ; {
		select {
		case err := <-ended:
			if err != nil {
				return r, fmt.Errorf("the attackers: %w", err)
			}
			return r, json.Unmarshal(out.Bytes(), &r)
		case <-time.After(memoryEvery):
		}
		if !over && (ctx.Err() != nil || gone()) {
			over = true
			_ = stdin.Close() // fails if they have ended
		}
	}
}

// beAttackers attacks if the environment has an order. It leaves early when its standard input ends.
func beAttackers() bool {
	text := os.Getenv(orderVariable)
	if text == "" {
		return false
	}
	var o order
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), o.Press)
		defer cancel()
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
		err = json.NewEncoder(os.Stdout).Encode(o.attack(ctx))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
	return true
}

// attack attacks until ctx ends or there is nothing more to do, and leaves.
func (o order) attack(ctx context.Context) report {
	s := newSiege(o.Addr, o.Size)
	attacked := make(chan error, 1)
	began := time.Now()
	go func() { attacked <- o.run(ctx, s) }()
	if o.Stops {
		go s.watchArrivals(ctx)
	}
	var err error
	done := false
	select {
	case err = <-attacked:
		done = err == nil || !over(ctx)
	case <-ctx.Done():
	}
	if done {
		wait(ctx, time.Until(began.Add(o.Least)))
	} else if o.Attack == fillAttack.name {
		err = fmt.Errorf("not done in %s", seconds(o.Press))
	}
	s.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.report.Failed = err.Error()
	}
	return s.report
}

// over reports whether ctx has ended or its deadline has passed: a connection may notice the deadline before ctx does.
func over(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && !time.Now().Before(deadline)
}

// run finds the attack by its name.
func (o order) run(ctx context.Context, s *siege) error {
	if o.Attack == fillAttack.name {
		return fillAttack.run(ctx, s)
	}
	chosen, err := choose(o.Attack)
	if err != nil {
		return err
	}
	return chosen[0].run(ctx, s)
}
