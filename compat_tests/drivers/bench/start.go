package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/protocol/client"
)

// startRuns is how often a server is started; the median counts.
const startRuns = 7

// restTime is how long a server is idle before its memory is measured.
const restTime = time.Second

// measureStart starts the server on an empty store several times.
func measureStart(binary, folder string) error {
	for _, memory := range []bool{true, false} {
		name := "on disk"
		if memory {
			name = "--memory"
		}
		var times []time.Duration
		var rss int64
		for i := range startRuns {
			args := []string{"--data", filepath.Join(folder, fmt.Sprint("data", i))}
			if memory {
				args = []string{"--memory"}
			}
			took, p, err := startToAnswer(binary, args)
			if err != nil {
				return err
			}
			times = append(times, took)
			if i == startRuns-1 {
				time.Sleep(restTime)
				if rss, err = p.RSS(); err != nil {
					return err
				}
			}
			if err := p.Stop(); err != nil {
				return err
			}
		}
		slices.Sort(times)
		fmt.Printf("start %-9s exec to first answered query %5.1f ms (median of %d, worst %.1f), RSS at rest %.1f MiB\n",
			name, ms(times[len(times)/2]), len(times), ms(times[len(times)-1]), float64(rss)/(1<<20))
	}
	return nil
}

// startToAnswer starts the server on a free port and sends it a query as soon as it listens.
func startToAnswer(binary string, args []string) (time.Duration, *process.Process, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return 0, nil, err
	}
	began := time.Now()
	p, err := process.Start(binary, append([]string{"serve", "--listen", addr}, args...)...)
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := client.Dial(ctx, p.Addr, client.Options{})
	if err != nil {
		return 0, p, err
	}
	defer conn.Close()
	if _, err := conn.Query(ctx, "SELECT key FROM system.local", nil, nil); err != nil {
		return 0, p, err
	}
	return time.Since(began), p, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// self is this program, to be started again as the null server.
func self() (string, error) { return os.Executable() }

// A server has settled when it has used at most quietTime of CPU within quietWindow: cqld begins to compact tables a
// second or two after the last write. The wait ends after maxSettling.
const (
	quietWindow = 2500 * time.Millisecond
	quietTime   = 50 * time.Millisecond
	maxSettling = 20 * time.Second
)

// settled waits until a server has settled, and returns the CPU time that it used meanwhile.
func settled(pid int) (time.Duration, error) {
	before, err := process.CPUOf(pid)
	if err != nil {
		return 0, err
	}
	if err := settle(pid); err != nil {
		return 0, err
	}
	after, err := process.CPUOf(pid)
	return after - before, err
}

// settle waits until a server has settled, so that background work after one kind of request is not counted for the
// next.
func settle(pid int) error {
	end := time.Now().Add(maxSettling)
	for time.Now().Before(end) {
		before, err := process.CPUOf(pid)
		if err != nil {
			return err
		}
		time.Sleep(quietWindow)
		after, err := process.CPUOf(pid)
		if err != nil || after-before <= quietTime {
			return err
		}
	}
	return nil
}
