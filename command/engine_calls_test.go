package command

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cqld/cqld/store/engine"
)

var errDown = errors.New("the engine is down")

// fewKeys is a reader of the keys "1" to "9". It fails with the key "down".
type fewKeys struct{ engine.Reader }

func (fewKeys) Get(key []byte, fn func(value []byte) error) (bool, error) {
	switch {
	case string(key) == "down":
		return false, errDown
	case len(key) == 1 && key[0] > '0' && key[0] <= '9':
		return true, fn(append([]byte("value "), key...))
	}
	return false, nil
}

// manyKeys gets them together.
type manyKeys struct {
	fewKeys
	calls int
}

func (m *manyKeys) GetMany(keys [][]byte, fn func(i int, value []byte) (bool, error)) error {
	m.calls++
	return engine.GetEach(m.fewKeys, keys, fn)
}

// TestWatchedGetMany gets keys from engines that have a way to get many and from others, and looks which errors count
// as those of the engine.
func TestWatchedGetMany(t *testing.T) {
	many := new(manyKeys)
	for _, src := range []engine.Reader{fewKeys{}, many} {
		own := errors.New("the caller has failed")
		for _, c := range []struct {
			keys   []string
			want   []string
			stop   error // of the callback, at the last key
			err    error
			failed error
		}{
			{keys: []string{"1", "x", "3"}, want: []string{"0 value 1", "1 nil", "2 value 3"}},
			{keys: []string{"1", "2"}, want: []string{"0 value 1", "1 value 2"}, stop: own, err: own},
			{keys: []string{"1", "down", "3"}, want: []string{"0 value 1"}, err: errDown, failed: errDown},
		} {
			r := &watchedReader{Reader: src}
			var keys [][]byte
			for _, k := range c.keys {
				keys = append(keys, []byte(k))
			}
			var got []string
			err := r.GetMany(keys, func(i int, value []byte) (bool, error) {
				if value == nil {
					value = []byte("nil")
				}
				got = append(got, fmt.Sprintf("%d %s", i, value))
				if i == len(keys)-1 {
					return true, c.stop
				}
				return true, nil
			})
			if !slices.Equal(got, c.want) || !errors.Is(err, c.err) || err != nil && c.err == nil {
				t.Errorf("%T, %q: %q and %v, want %q and %v", src, c.keys, got, err, c.want, c.err)
			}
			if failed := r.failure(); !errors.Is(failed, c.failed) || failed != nil && c.failed == nil {
				t.Errorf("%T, %q: the engine's failure is %v, want %v", src, c.keys, failed, c.failed)
			}
		}
	}
	if many.calls != 3 {
		t.Errorf("many were got %d times, want 3", many.calls)
	}
}
