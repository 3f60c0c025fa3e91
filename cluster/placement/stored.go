package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"

	"github.com/cqld/cqld/cluster/safepoint"
)

// placement is the state that all views share.
type placement struct {
	pdpb.UnimplementedPDServer
	file string

	mu                sync.Mutex
	physical, logical int64 // of the last timestamp
	stored            stored
	written           []byte // content of the file
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
	p := &placement{file: file, stored: stored{LastID: firstID, Services: safepoint.Services{}}}
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
	p.physical, p.written = p.stored.Bound, text
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

// The clock, in milliseconds. As in PD, it starts at the stored bound after a restart, and stops until real time has
// passed the bound.
const (
	clockStep  = 50   // PD's default
	boundRange = 3000 // how far the bound is in the future
)

// timestamps returns the last of count new timestamps.
func (p *placement) timestamps(count int64) (*pdpb.Timestamp, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now().UnixMilli()
	if now -= now % clockStep; now > p.physical {
		p.physical, p.logical = now, 0
	}
	if p.physical >= p.stored.Bound {
		p.stored.Bound = p.physical + boundRange
		if err := p.save(); err != nil {
			return nil, err
		}
	}
	p.logical += count
	return &pdpb.Timestamp{Physical: p.physical, Logical: p.logical}, nil
}
