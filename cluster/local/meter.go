package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cqld/cqld/protocol/client"
)

// Meter runs a statement on a node repeatedly and records when it succeeds.
type Meter struct {
	stop    context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	succeeded []time.Time
}

// The times of a meter.
const (
	meterInterval = 50 * time.Millisecond
	meterTimeout  = time.Second // of one statement
)

// Measure starts a meter for the node at an address.
func Measure(address, statement string) *Meter {
	ctx, stop := context.WithCancel(context.Background())
	m := &Meter{stop: stop}
	m.running.Go(func() {
		for ctx.Err() == nil {
			_ = m.measure(ctx, address, statement) // only successes count
			pause(ctx)
		}
	})
	return m
}

// measure runs the statement on one connection until it fails.
func (m *Meter) measure(ctx context.Context, address, statement string) error {
	dialing, cancel := context.WithTimeout(ctx, meterTimeout)
	defer cancel()
	conn, err := client.Dial(dialing, address, client.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	for ctx.Err() == nil {
		asking, cancel := context.WithTimeout(ctx, meterTimeout)
		_, err := conn.Query(asking, statement, nil, nil)
		cancel()
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.succeeded = append(m.succeeded, time.Now())
		m.mu.Unlock()
		pause(ctx)
	}
	return nil
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(meterInterval):
	}
}

// errNoSuccess is the error of Pause.
var errNoSuccess = errors.New("no success since")

// Pause returns the longest time without a success since begin, and how long after end the next success came. It fails
// if there is none yet.
func (m *Meter) Pause(begin, end time.Time) (longest, after time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := begin
	for _, at := range m.succeeded {
		if at.Before(begin) {
			continue
		}
		longest = max(longest, at.Sub(last))
		if last = at; at.After(end) {
			return longest, at.Sub(end), nil
		}
	}
	return time.Since(last), time.Since(end), fmt.Errorf("%w %v", errNoSuccess, last)
}

// Stop stops the meter.
func (m *Meter) Stop() {
	m.stop()
	m.running.Wait()
}
