package server

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/cqld/cqld/protocol"
)

// perStatement is what a statement takes besides its text, its plan and what it answers: itself and its places in a
// cache.
const perStatement = 1 << 10

// shortText is the length of the longest text whose plan is estimated: measuring it would take longer than planning.
// The estimate is an upper bound for short texts of all kinds.
const shortText = 512

// estimate sets the size of the statement of a text.
func (st *statement) estimate() {
	if len(st.text) > shortText {
		st.measure()
		return
	}
	st.size = int64(2*perStatement + 32*len(st.text) + 288*(len(st.plan.Markers)+len(st.plan.Result)))
}

// measure sets the size of a statement: the memory that keeping it keeps alive, besides the schema and what belongs to
// the whole server.
func (st *statement) measure() {
	m := measuring{text: st.text, seen: map[unsafe.Pointer]bool{}}
	m.bytes = perStatement + allocated(len(st.text)) + allocated(2*len(st.pkIndexes))
	m.value(reflect.ValueOf(st.plan))
	m.specs(st.markers)
	m.specs(st.columns)
	st.size = int64(m.bytes + m.bytes/32) // sizes of allocations are only known roughly
}

// measuring adds up the memory of values.
type measuring struct {
	text  string // of the statement: names and constants are often parts of it
	seen  map[unsafe.Pointer]bool
	bytes int
}

// specs adds columns with their encoding.
func (m *measuring) specs(specs *protocol.ColumnSpecs) {
	columns := specs.Columns()
	if len(columns) == 0 {
		return
	}
	encoded := 0
	for i := range columns {
		encoded += len(columns[i].Name) + len(columns[i].Type.ClassName())/2 + 4
	}
	m.bytes += allocated(len(columns) * int(unsafe.Sizeof(columns[0])))
	m.bytes += allocated(encoded) + allocated(int(unsafe.Sizeof(*specs)))
}

// value adds what v points to.
func (m *measuring) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && m.first(v.UnsafePointer()) && !isShared(v.Type().Elem()) {
			m.bytes += allocated(int(v.Type().Elem().Size()))
			m.value(v.Elem())
		}
	case reflect.Interface:
		m.boxed(v)
	case reflect.String:
		s := v.String()
		if s != "" && !within(m.text, s) && m.first(unsafe.Pointer(unsafe.StringData(s))) {
			m.bytes += allocated(len(s))
		}
	case reflect.Slice:
		if v.Cap() > 0 && m.first(v.UnsafePointer()) {
			m.bytes += allocated(v.Cap() * int(v.Type().Elem().Size()))
			m.elements(v)
		}
	case reflect.Array:
		m.elements(v)
	case reflect.Map:
		m.bytes += allocated(48 + 2*v.Len()*int(v.Type().Key().Size()+v.Type().Elem().Size()))
		for e := v.MapRange(); e.Next(); {
			m.value(e.Key())
			m.value(e.Value())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			m.value(v.Field(i))
		}
	case reflect.Func:
		if !v.IsNil() {
			m.bytes += 48 // what a closure has caught
		}
	}
}

// elements adds what the elements of a slice or array point to.
func (m *measuring) elements(v reflect.Value) {
	if !pointing(v.Type().Elem().Kind()) {
		return
	}
	for i := range v.Len() {
		m.value(v.Index(i))
	}
}

// boxed adds the value of an interface.
func (m *measuring) boxed(v reflect.Value) {
	if v.IsNil() {
		return
	}
	e := v.Elem()
	if e.Kind() != reflect.Pointer {
		m.bytes += allocated(int(e.Type().Size()))
	}
	m.value(e)
}

// first reports whether nothing at p was counted before.
func (m *measuring) first(p unsafe.Pointer) bool {
	if m.seen[p] {
		return false
	}
	m.seen[p] = true
	return true
}

// pointing reports whether values of a kind can hold more than themselves.
func pointing(k reflect.Kind) bool {
	return k == reflect.String || k == reflect.Array || k == reflect.Struct || k == reflect.Interface ||
		k >= reflect.Func && k <= reflect.Slice
}

// isShared reports whether values of a type belong to the schema or to everybody.
func isShared(t reflect.Type) bool {
	path := t.PkgPath()
	return strings.HasSuffix(path, "/cql/schema") || strings.HasSuffix(path, "/cql/types") ||
		strings.HasSuffix(path, "/cql/functions")
}

// within reports whether s is a part of text, in the same memory.
func within(text, s string) bool {
	begin, at := uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(unsafe.Pointer(unsafe.StringData(s)))
	return begin <= at && at < begin+uintptr(len(text))
}

// allocated is about what the allocator takes for n bytes: it has a size for every sixteen bytes, then for about every
// eighth more.
func allocated(n int) int {
	switch {
	case n <= 256: // also less than 16: such values share blocks of so many bytes with what is gone
		return (n + 15) &^ 15
	case n <= 32<<10:
		return n + n/12
	}
	return (n + 8191) &^ 8191
}
