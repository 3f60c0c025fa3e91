package cqltest

import (
	"bytes"
	"reflect"
	"time"

	"github.com/cqld/cqld/cql/types"
)

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
