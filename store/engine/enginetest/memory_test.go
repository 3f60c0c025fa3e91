package enginetest

import (
	"testing"

	"github.com/cqld/cqld/store/engine"
)

func TestMemory(t *testing.T) {
	for name, hostile := range map[string]bool{"plain": false, "hostile": true} {
		t.Run(name, func(t *testing.T) {
			Run(t, Harness{
				Open: func(_ *testing.T, fold engine.Fold) engine.Engine { return NewMemory(fold, hostile) },
				Reopen: func(t *testing.T, e engine.Engine, fold engine.Fold) engine.Engine {
					must(t, e.Close())
					return e.(*Memory).Reopen(fold)
				},
			})
		})
	}
}
