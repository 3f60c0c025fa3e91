package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"

	"github.com/cqld/cqld/cluster/safepoint"
	"github.com/cqld/cqld/internal/tso"
)

// placement is the state that all views share.
type placement struct {
	pdpb.UnimplementedPDServer
	file string

	clock   tso.Oracle
	mu      sync.Mutex
	stored  stored
	written []byte // content of the file
}

// stored is the state in the file.
type stored struct {
	Bound     int64 // an upper bound of all timestamps, in milliseconds
	LastID    uint64
	SafePoint uint64
	Services  safepoint.Services
	Stores    []*metapb.Store
	Regions   []*region // sorted by their starts
}

// firstID is the last number that AllocID does not return.
const firstID = 1000

// open reads the file.
func open(file string) (*placement, error) {
	p := &placement{file: file, clock: tso.Oracle{Step: clockStep}, stored: stored{LastID: firstID, Services: safepoint.Services{}}}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(text, &p.stored); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	p.clock.Begin(p.stored.Bound)
	p.written = text
	return p, nil
}

// save writes the file if the state has changed. The caller holds mu.
func (p *placement) save() error {
	text, err := json.Marshal(&p.stored)
	if err != nil || bytes.Equal(text, p.written) {
		return err
	}
	next := p.file + ".next"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	p.written = text
	return os.Rename(next, p.file)
}

// As in PD, the clock starts at the stored bound after a restart, and stops until real time has passed the bound.
const (
	clockStep  = 50 * time.Millisecond // PD's default
	boundRange = 3000                  // how far the bound is in the future, in milliseconds
)

// timestamps returns the last of count new timestamps.
func (p *placement) timestamps(count int64) (*pdpb.Timestamp, error) {
	physical, logical := p.clock.Next(count)
	p.mu.Lock()
	defer p.mu.Unlock()
	if physical >= p.stored.Bound {
		p.stored.Bound = physical + boundRange
		if err := p.save(); err != nil {
			return nil, err
		}
	}
	return &pdpb.Timestamp{Physical: physical, Logical: logical}, nil
}

// transfers changes the leader again and again, without a pause: the next one's clock begins up to maxJump later.
func (p *placement) transfers(every time.Duration) {
	for range time.Tick(every) {
		jump := rand.N(maxJump)
		p.clock.Transfer(jump)
		log.Printf("another leader, whose clock is %v later", jump)
	}
}

// maxJump is PD's default tso-save-interval.
const maxJump = 5 * time.Second
