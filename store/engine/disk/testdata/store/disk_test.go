package store

import (
	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk"
)

func init() {
	openDisk = func(dir string, memtable int64, f engine.Fold) (engine.Engine, error) {
		return disk.Open(disk.Options{Dir: dir, Memtable: memtable, Log: zerolog.Nop()}, f)
	}
}
