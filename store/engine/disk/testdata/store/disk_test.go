package store

import (
	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk"
)

func init() {
	openDisk = func(dir string, o diskOptions, f engine.Fold) (engine.Engine, error) {
		own := disk.Options{Dir: dir, Memtable: o.memtable, Log: zerolog.Nop()}
		if o.batch {
			own.Sync = disk.Batch
		}
		return disk.Open(own, f)
	}
}
