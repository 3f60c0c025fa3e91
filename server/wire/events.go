// Package wire has the two ends of a connection: Input, the bytes that have arrived, and Output, the answers that are
// not written yet. Answers is the memory that all outputs share. An EventQueue writes events to many connections
// without disturbing the others. HungUp finds clients that have gone while their connection is not read.
package wire

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/internal/panics"
)

// Events are written to eventBurst connections at a time, with eventPause between them. When its turn comes, a
// connection gets all its events. Thousands of writes at once keep others from the processors, and Linux drops packets
// in a queue of more than a thousand, perhaps the first packet of a client, which retries after a second.
const (
	eventBurst = 128
	eventPause = time.Millisecond
)

// EventQueue is a FIFO queue of the connections that have events to write.
type EventQueue struct {
	Log *zerolog.Logger

	mu      sync.Mutex
	waiting []*Output
	busy    bool // a goroutine empties it
}

// Add writes the events of outputs soon, in this order.
func (q *EventQueue) Add(outputs []*Output) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, outputs...)
	if !q.busy && len(q.waiting) > 0 {
		q.busy = true
		panics.Go(q.Log, q.empty)
	}
}

// empty writes events until there are none. Connections that have ended, or got their events with an answer, take no
// time.
func (q *EventQueue) empty() {
	for n := 0; ; {
		outputs := q.take()
		if len(outputs) == 0 {
			return
		}
		panics.Run(q.Log, func() {
			for _, o := range outputs {
				if !o.WriteEvents() {
					continue
				}
				if n++; n%eventBurst == 0 {
					time.Sleep(eventPause)
				}
			}
		})
	}
}

// take takes the outputs that wait.
func (q *EventQueue) take() []*Output {
	q.mu.Lock()
	defer q.mu.Unlock()
	outputs := q.waiting
	q.waiting = nil
	q.busy = len(outputs) > 0
	return outputs
}
