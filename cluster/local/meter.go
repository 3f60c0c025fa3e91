package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cqld/cqld/protocol/client"
)

// Meter runs a statement on a node again and again, and knows when that succeeded.
type Meter struct {
	stop    context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	succeeded []time.Time
}

// The times of a meter: between two statements, and that one may take.
const (
	meterEvery   = 50 * time.Millisecond
	meterPatient = time.Second
)

// Measure begins to run a statement on the node at an address.
func Measure(address, statement string) *Meter {
	ctx, stop := context.WithCancel(context.Background())
	m := &Meter{stop: stop}
	m.running.Go(func() {
		for ctx.Err() == nil {
			_ = m.run(ctx, address, statement) // it is the time without a success that counts
			pause(ctx)
		}
	})
	return m
}

// run runs the statement on one connection until it fails.
func (m *Meter) run(ctx context.Context, address, statement string) error {
	dialing, cancel := context.WithTimeout(ctx, meterPatient)
	defer cancel()
	conn, err := client.Dial(dialing, address, client.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	for ctx.Err() == nil {
		asking, cancel := context.WithTimeout(ctx, meterPatient)
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
	case <-time.After(meterEvery):
	}
}

// errNoSuccess says that a statement has not succeeded since.
var errNoSuccess = errors.New("nothing has succeeded since")

// Pause is the longest time without a success since a moment, if there was a success after a later moment, and how long
// that took.
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

// Stop ends the meter.
func (m *Meter) Stop() {
	m.stop()
	m.running.Wait()
}
