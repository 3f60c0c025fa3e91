package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"

	"github.com/cqld/cqld/cluster/safepoint"
)

// placement is what the views share.
type placement struct {
	pdpb.UnimplementedPDServer
	file string

	mu                sync.Mutex
	physical, logical int64 // of the last timestamp
	stored            stored
	written           []byte // what the file has
}

// stored is what is remembered.
type stored struct {
	Bound     int64 // all timestamps that were given are before it, in milliseconds
	LastID    uint64
	SafePoint uint64
	Services  safepoint.Services
	Stores    []*metapb.Store
	Regions   []*region // sorted by their starts
}

// firstID is the last number that is not given to anybody.
const firstID = 1000

// open reads what is remembered.
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

// save writes what is remembered, if it has changed. The caller holds mu.
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
