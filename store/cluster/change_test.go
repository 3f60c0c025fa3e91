package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// forgetful is an engine that does not know what became of some updates.
type forgetful struct {
	engine.Engine
	updates atomic.Int64
}

func (f *forgetful) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	switch f.updates.Add(1) % 3 {
	case 1: // it was applied
		f.Engine.Update(ctx, guards, fn, func(err error) { done(errors.Join(err, engine.ErrUnknown)) })
	case 2: // it was not
		done(engine.ErrUnknown)
	default:
		f.Engine.Update(ctx, guards, fn, done)
	}
}

func TestChange(t *testing.T) {
	e := &forgetful{Engine: enginetest.NewMemory(enginetest.Union, true)}
	key := []byte("a key that a change writes")
	for version := range uint64(40) {
		ops := []engine.Op{{Kind: engine.Put, Key: key, Value: []byte{byte(version + 1)}}}
		next, err := Change(t.Context(), e, version, ops)
		if err != nil || next != version+1 {
			t.Fatalf("the change of version %d: %d, %v", version, next, err)
		}
	}
	before := e.updates.Load()
	if _, err := Change(t.Context(), e, 39, []engine.Op{{Kind: engine.Delete, Key: key}}); !errors.Is(err, ErrMoved) {
		t.Errorf("a change of an old version: %v", err)
	}
	if e.updates.Load() == before {
		t.Error("nothing was tried")
	}
	v, err := ReadVersion(e)
	if err != nil || v.Number != 40 || len(v.Changes) != rememberedChanges {
		t.Errorf("the version is %v, %v", v, err)
	}
	if _, err := e.Get(key, func(value []byte) error {
		if value[0] != 40 {
			t.Errorf("the change has written %d", value[0])
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
