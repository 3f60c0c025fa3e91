package cqltest

import (
	"bytes"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"strconv"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cql/types/json"
)

// encode makes a value of Go one of a CQL type. nil and nil pointers are null.
func encode(t types.Type, v any) ([]byte, error) {
	of := reflect.ValueOf(v)
	for of.Kind() == reflect.Pointer {
		if of.IsNil() {
			return nil, nil
		}
		if _, ok := of.Interface().(fmt.Stringer); ok {
			break // such as *big.Int
		}
		of = of.Elem()
	}
	if !of.IsValid() {
		return nil, nil
	}
	v = of.Interface()
	switch t := t.(type) {
	case *types.List:
		elems, err := encodeAll(t.Elem, of)
		return types.NewList(elems), unless(err, t, v)
	case *types.Set:
		if isSet(of.Type()) {
			keys := reflect.MakeSlice(reflect.SliceOf(of.Type().Key()), 0, of.Len())
			of = reflect.Append(keys, of.MapKeys()...)
		}
		elems, err := encodeAll(t.Elem, of)
		return types.NewSet(t, elems), unless(err, t, v)
	case *types.Vector:
		elems, err := encodeAll(t.Elem, of)
		if err == nil && len(elems) != t.Dim {
			return nil, fmt.Errorf("%d elements are no %s", len(elems), t)
		}
		if err != nil {
			return nil, unless(err, t, v)
		}
		return types.NewVector(t, elems), nil
	case *types.Map:
		return encodeMap(t, of)
	case *types.Tuple:
		return encodeTuple(t, of)
	case *types.UserType:
		return encodeUserType(t, of)
	}
	return encodeNative(t, of)
}

// errKind is the error of a Go value that has no meaning for a type.
var errKind = fmt.Errorf("a value of another kind")

// unless replaces errKind by an error that names both types.
func unless(err error, t types.Type, v any) error {
	if err == errKind {
		return fmt.Errorf("a Go %T is no %s", v, t)
	}
	return err
}

// encodeAll encodes the elements of a slice or an array; null is none of them.
func encodeAll(elem types.Type, of reflect.Value) ([][]byte, error) {
	if of.Kind() != reflect.Slice && of.Kind() != reflect.Array {
		return nil, errKind
	}
	all := make([][]byte, of.Len())
	for i := range all {
		var err error
		if all[i], err = encodeElement(elem, of.Index(i)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func encodeElement(t types.Type, of reflect.Value) ([]byte, error) {
	b, err := encode(t, of.Interface())
	if err == nil && b == nil {
		err = fmt.Errorf("a collection has no null")
	}
	return b, err
}

func encodeMap(t *types.Map, of reflect.Value) ([]byte, error) {
	if of.Kind() != reflect.Map {
		return nil, unless(errKind, t, of.Interface())
	}
	var keys, values [][]byte
	for it := of.MapRange(); it.Next(); {
		k, err := encodeElement(t.Key, it.Key())
		if err != nil {
			return nil, err
		}
		v, err := encodeElement(t.Value, it.Value())
		if err != nil {
			return nil, err
		}
		keys, values = append(keys, k), append(values, v)
	}
	return types.NewMap(t, keys, values), nil
}

func encodeTuple(t *types.Tuple, of reflect.Value) ([]byte, error) {
	if of.Kind() != reflect.Slice && of.Kind() != reflect.Array || of.Len() != len(t.Elems) {
		return nil, fmt.Errorf("a Go %s is no %s: want a slice of %d values", of.Type(), t, len(t.Elems))
	}
	fields := make([][]byte, len(t.Elems))
	for i, elem := range t.Elems {
		var err error
		if fields[i], err = encode(elem, of.Index(i).Interface()); err != nil {
			return nil, err
		}
	}
	return types.NewTuple(fields), nil
}

func encodeUserType(t *types.UserType, of reflect.Value) ([]byte, error) {
	given, ok := of.Interface().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a Go %s is no %s: want a map[string]any of its fields", of.Type(), t)
	}
	fields, used := make([][]byte, len(t.Fields)), 0
	for i, f := range t.Fields {
		v, ok := given[f.Name]
		if !ok {
			continue
		}
		used++
		var err error
		if fields[i], err = encode(f.Type, v); err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	if used != len(given) {
		return nil, fmt.Errorf("%v has fields that %s has not", given, t)
	}
	return types.NewTuple(fields), nil
}

// encodeNative encodes a value of a native type: by its JSON, unless a case below handles it.
func encodeNative(t types.Type, of reflect.Value) ([]byte, error) {
	v := of.Interface()
	switch v := v.(type) {
	case time.Time:
		switch t {
		case types.Timestamp:
			return types.EncodeTimestamp(v), nil
		case types.Date:
			return fromJSON(t, json.String(v.UTC().Format(time.DateOnly)))
		}
		return nil, unless(errKind, t, v)
	case time.Duration:
		switch t {
		case types.Time:
			return types.EncodeBigInt(int64(v)), nil
		case types.Duration:
			return types.EncodeDuration(0, 0, int64(v)), nil
		}
		return nil, unless(errKind, t, v)
	case netip.Addr:
		if t == types.Inet {
			return types.EncodeInet(v), nil
		}
	case net.IP:
		if addr, ok := netip.AddrFromSlice(v); ok && t == types.Inet {
			return types.EncodeInet(addr.Unmap()), nil
		}
	case *big.Int:
		return fromJSON(t, json.Integer(v.String()))
	}
	isBytes := (of.Kind() == reflect.Slice || of.Kind() == reflect.Array) && of.Type().Elem().Kind() == reflect.Uint8
	switch {
	case isBytes && t == types.Blob:
		return append([]byte{}, bytesOf(of)...), nil
	case isBytes && of.Len() == 16 && (t == types.UUID || t == types.TimeUUID):
		return bytes.Clone(bytesOf(of)), nil
	}
	if s, ok := v.(fmt.Stringer); ok {
		return fromText(t, s.String())
	}
	switch of.Kind() {
	case reflect.String:
		return fromText(t, of.String())
	case reflect.Bool:
		return fromJSON(t, json.Boolean(of.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fromJSON(t, json.Integer(strconv.FormatInt(of.Int(), 10)))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fromJSON(t, json.Integer(strconv.FormatUint(of.Uint(), 10)))
	case reflect.Float32, reflect.Float64:
		switch t {
		case types.Double:
			return types.EncodeDouble(of.Float()), nil
		case types.Float:
			return types.EncodeFloat(float32(of.Float())), nil
		case types.Decimal:
			return fromText(t, strconv.FormatFloat(of.Float(), 'f', -1, of.Type().Bits()))
		}
	}
	return nil, unless(errKind, t, v)
}

// bytesOf is a slice or an array of bytes.
func bytesOf(of reflect.Value) []byte {
	b := make([]byte, of.Len())
	reflect.Copy(reflect.ValueOf(b), of)
	return b
}

func fromText(t types.Type, text string) ([]byte, error) {
	switch t {
	case types.Text, types.ASCII:
		return []byte(text), nil
	case types.Blob:
		return nil, unless(errKind, t, text)
	}
	return fromJSON(t, json.String(text))
}

func fromJSON(t types.Type, v json.Value) ([]byte, error) {
	if t == types.Counter {
		t = types.BigInt
	}
	if _, isText := v.(json.String); !isText && (t == types.Text || t == types.ASCII) {
		return nil, fmt.Errorf("%s is no %s", v, t)
	}
	return t.ParseJSON(v)
}

// decode is a value in the form of Rows.Values.
func decode(t types.Type, b []byte) any {
	if b == nil || len(b) == 0 && types.EmptyIsNull(t) {
		return nil
	}
	switch t := t.(type) {
	case *types.List:
		return decodeAll(t.Elem, b)
	case *types.Set:
		return decodeAll(t.Elem, b)
	case *types.Vector:
		all := []any{}
		for e := range types.VectorElements(t, b) {
			all = append(all, decode(t.Elem, e))
		}
		return all
	case *types.Map:
		return decodeMap(t, b)
	case *types.Tuple:
		all := make([]any, len(t.Elems))
		for i, e := range types.TupleFields(b, len(t.Elems)) {
			all[i] = decode(t.Elems[i], e)
		}
		return all
	case *types.UserType:
		all := map[string]any{}
		for i, e := range types.TupleFields(b, len(t.Fields)) {
			all[t.Fields[i].Name] = decode(t.Fields[i].Type, e)
		}
		return all
	}
	return decodeNative(t, b)
}

func decodeAll(elem types.Type, b []byte) any {
	all := []any{}
	for e := range types.Elements(b) {
		all = append(all, decode(elem, e))
	}
	return all
}

func decodeMap(t *types.Map, b []byte) any {
	all := map[any]any{}
	for k, v := range types.Entries(b) {
		key := decode(t.Key, k)
		if key != nil && !reflect.TypeOf(key).Comparable() {
			key = t.Key.Format(k)
		}
		all[key] = decode(t.Value, v)
	}
	return all
}

// day is the unit of dates, in seconds.
const day = 24 * 60 * 60

func decodeNative(t types.Type, b []byte) any {
	switch t {
	case types.Text, types.ASCII:
		return string(b)
	case types.TinyInt:
		return int(types.DecodeTinyInt(b))
	case types.SmallInt:
		return int(types.DecodeSmallInt(b))
	case types.Int:
		return int(types.DecodeInt(b))
	case types.BigInt, types.Counter:
		return int(types.DecodeBigInt(b))
	case types.VarInt:
		return types.DecodeVarInt(b)
	case types.Float:
		return types.DecodeFloat(b)
	case types.Double:
		return types.DecodeDouble(b)
	case types.Boolean:
		return types.DecodeBoolean(b)
	case types.UUID, types.TimeUUID, types.LegacyTimeUUID:
		return types.FormatUUID([16]byte(b))
	case types.Timestamp:
		return time.UnixMilli(types.DecodeBigInt(b)).UTC()
	case types.Date:
		return time.Unix(types.DecodeDate(b)*day, 0).UTC()
	case types.Time:
		return time.Duration(types.DecodeBigInt(b))
	case types.Inet:
		return types.DecodeInet(b)
	case types.Decimal, types.Duration:
		return t.Format(b)
	}
	return bytes.Clone(b) // a blob, or of a type that only Cassandra's classes know
}
