package store

import (
	"sync"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cluster/tikv"
	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/store/engine"
)

// clusters are those that stand for folders.
var clusters sync.Map

func init() {
	otherEngines["tikv"] = func(dir string, f engine.Fold) (engine.Engine, error) {
		c, err := tikvtest.Open(3)
		if err != nil {
			return nil, err
		}
		if dir != "" {
			kept, _ := clusters.LoadOrStore(dir, c)
			c = kept.(*tikvtest.Cluster)
		}
		store, err := c.Dial(nil)
		if err != nil {
			return nil, err
		}
		return tikv.Open(store, tikv.Options{Prefix: "store", MaxKey: 1 << 18, Log: zerolog.Nop()}, f)
	}
}
