package memory

import (
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

func TestContract(t *testing.T) {
	enginetest.Run(t, enginetest.Harness{
		Open: func(_ *testing.T, fold engine.Fold) engine.Engine { return Open(fold) },
		Reopen: func(t *testing.T, e engine.Engine, _ engine.Fold) engine.Engine {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			return e.(*Engine).Fork()
		},
	})
}
