package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// hold keeps the second phase of commits waiting, so that a test can kill a node between the two phases. What a node
// has sent that is gone by then is dropped.
type hold struct {
	mu     sync.Mutex
	change *sync.Cond
	on     bool
}

// holdOnSignals returns a hold that signals turn on and off.
func holdOnSignals() *hold {
	h := &hold{}
	h.change = sync.NewCond(&h.mu)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		for s := range signals {
			h.mu.Lock()
			h.on = s == syscall.SIGUSR1
			h.change.Broadcast()
			h.mu.Unlock()
		}
	}()
	return h
}

// pass waits while commits are held. It fails if the client is gone then.
func (h *hold) pass(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.on {
		return nil
	}
	defer context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.change.Broadcast()
	})()
	log.Print("a commit is held")
	for h.on && ctx.Err() == nil {
		h.change.Wait()
	}
	if ctx.Err() != nil {
		log.Print("a commit is dropped")
	}
	return ctx.Err()
}
