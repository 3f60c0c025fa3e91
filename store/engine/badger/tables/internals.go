package tables

import (
	"errors"
	"reflect"
	"sync"
	"unsafe"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/skl"
	"github.com/dgraph-io/badger/v4/table"
)

// internals is what a read needs of a database of Badger's, which has no methods for it.
type internals struct {
	mu     *sync.RWMutex // of what memtables there are
	newest **memtable
	older  *[]*memtable // the newest last; they leave when their table is in the first level
	levels []*levelTables
}

// memtable has the layout of the first field of Badger's.
type memtable struct{ list *skl.Skiplist }

// levelTables has the layout of the first fields of Badger's levelHandler. In the first level the newest table is the
// last one; others are in the order of their keys, and all versions of a key are in one table. A slice of tables is not
// changed, but for tables appended to it. What leaves a level is in the next one before.
type levelTables struct {
	sync.RWMutex
	tables []*table.Table
}

var errOther = errors.New("this Badger is made otherwise than expected")

// internalsOf finds them. Whatever Badger has called or arranged otherwise is an error.
func internalsOf(db *badger.DB) (*internals, error) {
	v := reflect.ValueOf(db).Elem()
	mu, newest, older := v.FieldByName("lock"), v.FieldByName("mt"), v.FieldByName("imm")
	if !mu.IsValid() || mu.Type() != reflect.TypeFor[sync.RWMutex]() || !newest.IsValid() || !older.IsValid() ||
		older.Type() != reflect.SliceOf(newest.Type()) || !begins[memtable](newest.Type(), "sl") {
		return nil, errOther
	}
	controller := v.FieldByName("lc")
	if !controller.IsValid() || controller.Kind() != reflect.Pointer || controller.IsNil() {
		return nil, errOther
	}
	levels := controller.Elem().FieldByName("levels")
	if !levels.IsValid() || levels.Kind() != reflect.Slice || levels.Len() == 0 ||
		!begins[levelTables](levels.Type().Elem(), "RWMutex", "tables") {
		return nil, errOther
	}
	in := &internals{
		mu:     (*sync.RWMutex)(unsafe.Pointer(mu.UnsafeAddr())),
		newest: (**memtable)(unsafe.Pointer(newest.UnsafeAddr())),
		older:  (*[]*memtable)(unsafe.Pointer(older.UnsafeAddr())),
	}
	for i := range levels.Len() {
		in.levels = append(in.levels, (*levelTables)(levels.Index(i).UnsafePointer()))
	}
	return in, nil
}

// begins reports whether a type points to a struct whose first fields have these names, and the types and places of
// those of T.
func begins[T any](pointer reflect.Type, names ...string) bool {
	if pointer.Kind() != reflect.Pointer || pointer.Elem().Kind() != reflect.Struct {
		return false
	}
	want, have := reflect.TypeFor[T](), pointer.Elem()
	for i, name := range names {
		if i >= have.NumField() || have.Field(i).Name != name ||
			have.Field(i).Type != want.Field(i).Type || have.Field(i).Offset != want.Field(i).Offset {
			return false
		}
	}
	return true
}

// memtables appends the memtables that have keys to dst, the newest first. Each has to be let go with DecrRef.
func (in *internals) memtables(dst []*skl.Skiplist) []*skl.Skiplist {
	in.mu.RLock()
	defer in.mu.RUnlock()
	take := func(m *memtable) {
		if !m.list.Empty() {
			m.list.IncrRef()
			dst = append(dst, m.list)
		}
	}
	if m := *in.newest; m != nil {
		take(m)
	}
	for i := len(*in.older) - 1; i >= 0; i-- {
		take((*in.older)[i])
	}
	return dst
}
