package badger

import (
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// gate keeps Badger from making a table while there is no room for it, or no file can be opened. Badger writes
// tables to mapped files with holes, so a full disk would end the process. And when a merge of tables cannot make
// one, Badger ignores that and removes the tables that went into it.
//
// Badger has no such gate. But it tells its logger that it is about to make a table, and waits for the logger. And
// it maps the file of each table through a package where blocks can be taken first (see takeMapped).
type gate struct {
	dir     string
	free    func(dir string) (int64, error)
	need    int64
	closing atomic.Bool
	log     zerolog.Logger
}

const (
	// madeTable begins what Badger says before it makes the file of a table.
	madeTable = "[%d] LOG Compact. Added %d keys."

	// gateFiles is how many files may be opened: as many as tables are made at a time.
	gateFiles = 8

	// gateEvery is how often the gate looks again.
	gateEvery = 100 * time.Millisecond
)

// newGate makes the gate of an engine in a folder.
func newGate(o Options) *gate {
	return &gate{dir: o.Dir, free: o.free, need: 2 * o.MemTableSize, log: o.Log}
}

// heard waits if Badger says that it is about to make a table.
func (g *gate) heard(format string, args []any) {
	if !strings.HasPrefix(format, madeTable) {
		return
	}
	if keys, ok := args[1].(uint64); ok && keys == 0 {
		return // it makes none
	}
	g.wait(g.check)
}

// wait tries something until it succeeds, because Badger cannot be told that it failed.
func (g *gate) wait(try func() error) {
	for waiting := false; ; waiting = true {
		err := try()
		if err == nil {
			if waiting {
				g.log.Info().Msg("tables are made again")
			}
			return
		}
		if !waiting {
			g.log.Warn().Err(err).Msg("no tables are made for now")
		}
		time.Sleep(gateEvery)
	}
}

// check says why no table can be made. While the folder is closed less room is needed.
func (g *gate) check() error {
	need := g.need
	if g.closing.Load() {
		need /= 2
	}
	r := room{dir: g.dir, free: g.free, reserve: need}
	if _, err := r.enough(0); err != nil {
		return err
	}
	var files []*os.File
	defer func() {
		for _, f := range files {
			_ = f.Close() // nothing was written to it
		}
	}()
	for range gateFiles {
		f, err := os.Open(g.dir)
		if err != nil {
			return r.refusal(err)
		}
		files = append(files, f)
	}
	return nil
}
