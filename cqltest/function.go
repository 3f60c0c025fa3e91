package cqltest

import (
	"context"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
)

// Function defines a user's function that calls fn, a Go function. It may be called wherever a user's function may: in
// SELECT, WHERE and values, and by aggregates.
//
//	srv.Function("shop", "net", func(gross, rate float64) (float64, error) {
//
// The CQL types follow from the types of fn:
//
//	bool                       boolean
//	int8, int16, int32, int64  tinyint, smallint, int, bigint
//	int                        int
//	float32, float64           float, double
//	string                     text
//	[]byte                     blob
//	[16]byte                   uuid
//	time.Time                  timestamp
//	time.Duration              time
//	*big.Int                   varint
//	net.IP, netip.Addr         inet
//	[]T                        list<T>
//	map[T]struct{}             set<T>
//	map[K]V                    map<K, V>
//
// Named types are like these, so that a driver's UUID is a uuid. Instead, cqlTypes can give the types: of each
// parameter, and of the result. Then a string is also a uuid, timeuuid, decimal or duration, a time.Time a date, and
// any is each type, in the form of Rows.Values:
//
//	srv.Function("shop", "label", func(price string) string { … }, "decimal", "text")
//
// The function RETURNS NULL ON NULL INPUT, unless a parameter is any or a pointer other than *big.Int: then it is
// CALLED ON NULL INPUT, and null is nil in all of its parameters. A result that is nil is null. fn may have an error as
// a second result: if it is not nil, or if fn panics, the statement fails with FUNCTION_FAILURE and its text. fn is
// called concurrently, and its time and memory are not limited.
//
// Function replaces a function of that name and those parameters, whatever its language; others of that name are
// overloads. It works where clients may not define functions, and without the option of package cqltest/functions.
// Snapshots, forks and templates keep fn. In DESCRIBE the function has a body in Java that names fn, and fails in
// another server.
//
// Function panics if the keyspace does not exist, if a type of fn has no CQL type, and where CREATE OR REPLACE FUNCTION
// is refused.
func (s *Server) Function(keyspace, name string, fn any, cqlTypes ...string) {
	f, err := newFunction(fn, cqlTypes)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), setupTime)
		defer cancel()
		err = s.server.Function(ctx, f.statement(keyspace, name), f.bind)
	}
	if err != nil {
		panic(fmt.Sprintf("cqltest: function %s.%s: %v", keyspace, name, err))
	}
}

// function is a Go function with the CQL types of its parameters and its result.
type function struct {
	fn     reflect.Value
	of     reflect.Type
	params []string
	result string
	onNull bool // it is called on null input
}

var (
	errorType    = reflect.TypeFor[error]()
	bigIntType   = reflect.TypeFor[*big.Int]()
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	addrType     = reflect.TypeFor[netip.Addr]()
	ipType       = reflect.TypeFor[net.IP]()
)

func newFunction(fn any, cqlTypes []string) (*function, error) {
	f := &function{fn: reflect.ValueOf(fn)}
	if f.fn.Kind() != reflect.Func || f.fn.IsNil() {
		return nil, fmt.Errorf("a %T is no function", fn)
	}
	f.of = f.fn.Type()
	results, n := f.of.NumOut(), f.of.NumIn()
	switch {
	case f.of.IsVariadic():
		return nil, fmt.Errorf("%s has any number of arguments, which CQL does not know", f.of)
	case results == 0 || results > 2 || results == 2 && f.of.Out(1) != errorType:
		return nil, fmt.Errorf("%s must have one result, or one and an error", f.of)
	case len(cqlTypes) == 0:
		for i := range n + 1 {
			text, err := cqlType(deref(f.at(i)), false)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.part(i), err)
			}
			cqlTypes = append(cqlTypes, text)
		}
	case len(cqlTypes) != n+1:
		return nil, fmt.Errorf("%d CQL types are given for %d parameters and a result", len(cqlTypes), n)
	}
	f.params, f.result = cqlTypes[:n], cqlTypes[n]
	return f, f.findOnNull()
}

// at is the type of the i-th parameter, or of the result after them.
func (f *function) at(i int) reflect.Type {
	if i == f.of.NumIn() {
		return f.of.Out(0)
	}
	return f.of.In(i)
}

// part names the parameter or the result in errors.
func (f *function) part(i int) string {
	if i == f.of.NumIn() {
		return "the result"
	}
	return fmt.Sprintf("parameter %d", i+1)
}

// findOnNull finds out whether the function is called on null input.
func (f *function) findOnNull() error {
	for in := range f.of.Ins() {
		f.onNull = f.onNull || deref(in) != in || in.Kind() == reflect.Interface
	}
	for i := 0; f.onNull && i < f.of.NumIn(); i++ {
		if in := f.of.In(i); !canBeNil(in) {
			return fmt.Errorf("parameter %d is a %s, which cannot be null as others can: make it a pointer", i+1, in)
		}
	}
	return nil
}

func canBeNil(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return true
	}
	return false
}

// deref is the type that a pointer is for.
func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer && t != bigIntType {
		return t.Elem()
	}
	return t
}

var cqlOfTypes = map[reflect.Type]string{
	bigIntType: "varint", timeType: "timestamp", durationType: "time", addrType: "inet", ipType: "inet",
}

var cqlOfKinds = map[reflect.Kind]string{
	reflect.Bool: "boolean", reflect.Int8: "tinyint", reflect.Int16: "smallint", reflect.Int32: "int",
	reflect.Int: "int", reflect.Int64: "bigint", reflect.Float32: "float", reflect.Float64: "double",
	reflect.String: "text",
}

// cqlType is the CQL type of a Go type, frozen if it is inside another one.
func cqlType(t reflect.Type, inside bool) (string, error) {
	if text, ok := cqlOfTypes[t]; ok {
		return text, nil
	}
	if text, ok := cqlOfKinds[t.Kind()]; ok {
		return text, nil
	}
	var format string
	var parts []reflect.Type
	switch {
	case isBytes(t) && t.Kind() == reflect.Slice:
		return "blob", nil
	case isBytes(t) && t.Len() == 16:
		return "uuid", nil
	case t.Kind() == reflect.Slice:
		format, parts = "list<%s>", []reflect.Type{t.Elem()}
	case isSet(t):
		format, parts = "set<%s>", []reflect.Type{t.Key()}
	case t.Kind() == reflect.Map:
		format, parts = "map<%s, %s>", []reflect.Type{t.Key(), t.Elem()}
	default:
		return "", fmt.Errorf("a Go %s has no CQL type", t)
	}
	texts := make([]any, len(parts))
	for i, part := range parts {
		text, err := cqlType(part, true)
		if err != nil {
			return "", err
		}
		texts[i] = text
	}
	text := fmt.Sprintf(format, texts...)
	if inside {
		text = "frozen<" + text + ">"
	}
	return text, nil
}

func isBytes(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem() == reflect.TypeFor[byte]()
}

func isSet(t reflect.Type) bool {
	return t.Kind() == reflect.Map && t.Elem() == reflect.TypeFor[struct{}]()
}

// statement is the definition of the function. Its body is for servers that have the definition without the function.
func (f *function) statement(keyspace, name string) string {
	params := make([]string, len(f.params))
	for i, text := range f.params {
		params[i] = fmt.Sprintf("arg%d %s", i+1, text)
	}
	onNull := "RETURNS NULL"
	if f.onNull {
		onNull = "CALLED"
	}
	code := runtime.FuncForPC(f.fn.Pointer())
	file, line := code.FileLine(code.Entry())
	body := fmt.Sprintf("throw new UnsupportedOperationException(%s);", strconv.QuoteToASCII(fmt.Sprintf(
		"the Go function %s (%s:%d) is not in this server", code.Name(), filepath.Base(file), line)))
	return fmt.Sprintf("CREATE OR REPLACE FUNCTION %s.%s (%s) %s ON NULL INPUT RETURNS %s LANGUAGE java AS $$%s$$",
		quote.Name(keyspace), quote.Name(name), strings.Join(params, ", "), onNull, f.result, body)
}

// bind makes the calls of a function whose CQL types are resolved.
func (f *function) bind(defined *schema.Function) (schema.GoFunc, error) {
	decoders := make([]decoder, len(f.params)+1)
	for i, t := range append(defined.Args[:len(f.params):len(f.params)], defined.Returns) {
		var err error
		if decoders[i], err = decoderOf(t, f.at(i)); err != nil {
			return nil, fmt.Errorf("%s: %w", f.part(i), err)
		}
	}
	return func(args [][]byte) ([]byte, error) {
		in := make([]reflect.Value, len(args))
		for i, b := range args {
			in[i] = reflect.New(f.of.In(i)).Elem()
			if err := decoders[i](b, in[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", f.part(i), err)
			}
		}
		out := f.fn.Call(in)
		if len(out) == 2 && !out[1].IsNil() {
			return nil, out[1].Interface().(error)
		}
		return encode(defined.Returns, plain(out[0]))
	}, nil
}

// plain is a result without its pointer, and without the methods of a number or a string: encode calls String.
func plain(v reflect.Value) any {
	if canBeNil(v.Type()) && v.IsNil() {
		return nil
	}
	if deref(v.Type()) != v.Type() {
		v = v.Elem()
	}
	switch {
	case v.CanInt() && v.Type() != durationType:
		return v.Int()
	case v.Kind() == reflect.String:
		return v.String()
	}
	return v.Interface()
}
