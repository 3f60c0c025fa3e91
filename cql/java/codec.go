package java

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/cqld/cqld/cql/types"
)

// passedAs is the type that Cassandra takes for an argument or a result: the codecs know no LegacyTimeUUIDType, and
// make a ByteBuffer of it. Inside collections, tuples and user types a timeuuid is a UUID.
func passedAs(t types.Type) types.Type {
	if t == types.TimeUUID {
		return types.LegacyTimeUUID
	}
	return t
}

// javaType is the Java type that bodies see values of a CQL type as. It is a class, never a primitive type.
func javaType(t types.Type) *typ {
	switch t := t.(type) {
	case *types.List:
		return classType(classList, javaType(t.Elem))
	case *types.Set:
		return classType(classSet, javaType(t.Elem))
	case *types.Map:
		return classType(classMap, javaType(t.Key), javaType(t.Value))
	case *types.Vector:
		return classType(classList, javaType(t.Elem))
	case *types.Tuple:
		return classTupleValue.typ()
	case *types.UserType:
		return classUDTValue.typ()
	}
	if c := nativeClasses[t]; c != nil {
		return c.typ()
	}
	return classByteBuffer.typ() // blob and types of Java classes
}

var nativeClasses = map[types.Type]*class{
	types.ASCII: classString, types.Text: classString, types.BigInt: classLong, types.Counter: classLong,
	types.Time:    classLong,
	types.Boolean: classBoolean, types.Date: classLocalDate, types.Decimal: classBigDecimal, types.Double: classDouble,
	types.Duration: classDuration, types.Float: classFloat, types.Inet: classInetAddress, types.Int: classInteger,
	types.SmallInt: classShort, types.Timestamp: classDate, types.TimeUUID: classUUID,
	types.TinyInt: classByte, types.UUID: classUUID, types.VarInt: classBigInteger,
}

// decode makes an object of a value. The empty value is null for types of which it has no meaning, and a collection
// that is null inside another value is empty.
func (t *thread) decode(ct types.Type, b []byte) object {
	switch ct := ct.(type) {
	case *types.List:
		return t.decodeList(types.Elements(b), ct.Elem, classArrayList)
	case *types.Vector:
		if len(b) == 0 {
			return nil
		}
		l := t.decodeList(types.VectorElements(ct, b), ct.Elem, classList)
		l.kind = immutable
		return l
	case *types.Set:
		s := t.newSet(classLinkedHashSet, true, -1)
		for e := range types.Elements(b) {
			s.m.put(t, t.decode(ct.Elem, e), boxTrue)
		}
		return s
	case *types.Map:
		t.alloc(128)
		m := &mapObject{mapping: newHashMap(true, -1), of: classLinkedHashMap}
		for k, v := range types.Entries(b) {
			m.put(t, t.decode(ct.Key, k), t.decode(ct.Value, v))
		}
		return m
	case *types.Tuple, *types.UserType:
		if b == nil {
			return nil
		}
		r := t.newRecord(ct)
		t.grow(len(b), 1)
		for i, field := range types.TupleFields(b, len(r.values)) {
			r.values[i] = bytes.Clone(field) // because the record may be kept longer than b
		}
		return r
	}
	if b == nil || len(b) == 0 && types.EmptyIsNull(ct) {
		return nil
	}
	t.charge(len(b) / 32)
	return t.decodeNative(ct, b)
}

func (t *thread) decodeList(elems func(func([]byte) bool), elem types.Type, of *class) *list {
	l := t.newList(of)
	for e := range elems {
		l.items = append(l.items, t.decode(elem, e))
		t.alloc(32)
		t.step()
	}
	return l
}

func (t *thread) decodeNative(ct types.Type, b []byte) object {
	switch ct {
	case types.ASCII, types.Text:
		return t.str(string(b))
	case types.BigInt, types.Counter:
		return t.boxLong(types.DecodeBigInt(b))
	case types.Time:
		return t.boxLong(int64(binary.BigEndian.Uint64(b)))
	case types.Boolean:
		return boxBoolean(types.DecodeBoolean(b))
	case types.Date:
		return t.localDate(int32(types.DecodeDate(b)))
	case types.Decimal:
		unscaled, scale := types.DecodeDecimal(b)
		return t.bigDecimal(unscaled, int64(scale))
	case types.Double:
		return t.box(doubleKind, floatBits(types.DecodeDouble(b)))
	case types.Duration:
		months, days, nanos := types.DecodeDuration(b)
		t.alloc(32)
		return &duration{months, days, nanos}
	case types.Float:
		return t.box(floatKind, floatBits(float64(types.DecodeFloat(b))))
	case types.Inet:
		t.alloc(64)
		return &inetAddress{bytes.Clone(b)}
	case types.Int:
		return t.boxInt(types.DecodeInt(b))
	case types.SmallInt:
		return t.boxShort(types.DecodeSmallInt(b))
	case types.Timestamp:
		return t.date(types.DecodeBigInt(b))
	case types.TimeUUID, types.UUID:
		return t.uuid(uuid(b))
	case types.TinyInt:
		return t.box(byteKind, int64(types.DecodeTinyInt(b)))
	case types.VarInt:
		return t.bigInteger(types.DecodeVarInt(b))
	}
	t.grow(len(b), 1)
	return t.newBuffer(append([]byte(nil), b...))
}

// encode makes a value of an object, in the order that a collection's iterator has. An object of another class, which
// gets here through a raw type, is an exception as it is in Cassandra.
func (t *thread) encode(ct types.Type, o object) []byte {
	if o == nil {
		return nil
	}
	t.step()
	if !instanceOfType(o, erase(javaType(ct))) {
		throw(classInvalidType, "Invalid value for CQL type "+driverKind(ct))
	}
	switch ct := ct.(type) {
	case *types.List:
		return t.encodeElements(ct.Elem, "list<"+driverName(ct.Elem)+">", o.(collection))
	case *types.Set:
		return t.encodeElements(ct.Elem, "set<"+driverName(ct.Elem)+">", o.(collection))
	case *types.Map:
		return t.encodeMap(ct, o.(*mapObject))
	case *types.Vector:
		return t.encodeVector(ct, o.(*list))
	case *types.Tuple, *types.UserType:
		return types.NewTuple(o.(*record).values)
	}
	b := t.encodeNative(ct, o)
	t.grow(len(b), 1)
	return b
}

// encodeElement is encode inside a collection, whose elements the compiler may not have checked.
func (t *thread) encodeElement(ct types.Type, o object, nullText, place string) []byte {
	if o == nil {
		throw(classNullPointerException, nullText)
	}
	if want := erase(javaType(ct)); !instanceOfType(o, want) {
		throw(classInvalidType, fmt.Sprintf("Invalid type for %s, expecting %s but got class %s", place, want.fullName(),
			o.class().name))
	}
	return t.encode(ct, o)
}

func (t *thread) encodeElements(elem types.Type, name string, c collection) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(c.size()))
	for s := c.iterate(t); s.hasNext(); {
		b = types.AppendElement(b, t.encodeElement(elem, s.next(t), "Collection elements cannot be null", name+" element"))
	}
	t.grow(len(b), 1)
	return b
}

func (t *thread) encodeMap(ct *types.Map, m *mapObject) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(m.size()))
	for s := m.entries(t); s.hasNext(); {
		e := s.nextEntry(t)
		b = types.AppendElement(b, t.encodeElement(ct.Key, e.key, "Map keys cannot be null", "map key"))
		b = types.AppendElement(b, t.encodeElement(ct.Value, e.value, "Map values cannot be null", "map value"))
	}
	t.grow(len(b), 1)
	return b
}

func (t *thread) encodeVector(ct *types.Vector, l *list) []byte {
	var elems [][]byte // not of ct.Dim yet, because only the type says how many there are
	s := l.iterate(t)
	for range ct.Dim {
		o := s.next(t)
		if o == nil {
			throwPlain(classNullPointerException)
		}
		t.alloc(48)
		elems = append(elems, t.encode(ct.Elem, o))
	}
	return types.NewVector(ct, elems)
}

func (t *thread) encodeNative(ct types.Type, o object) []byte {
	switch o := o.(type) {
	case *str:
		text := o.String()
		for i := 0; ct == types.ASCII && i < len(text); i++ {
			if text[i] >= utf8.RuneSelf {
				throw(classInvalidType, text+" is not a valid ASCII String")
			}
		}
		return []byte(text)
	case *boxBool:
		return types.EncodeBoolean(o.v)
	case *boxByte:
		return types.EncodeTinyInt(o.v)
	case *boxShort:
		return types.EncodeSmallInt(o.v)
	case *boxInt:
		return types.EncodeInt(o.v)
	case *boxLong:
		return types.EncodeBigInt(o.v)
	case *boxFloat:
		return types.EncodeFloat(o.v)
	case *boxDouble:
		return types.EncodeDouble(o.v)
	case *bigInteger:
		return types.EncodeVarInt(o.v)
	case *bigDecimal:
		return types.EncodeDecimal(o.unscaled, o.scale)
	case *uuid:
		if ct != types.UUID && o[6]>>4 != 1 {
			throw(classInvalidType, types.FormatUUID(*o)+" is not a Type 1 (time-based) UUID")
		}
		return append([]byte(nil), o[:]...)
	case *inetAddress:
		return append([]byte(nil), o.b...)
	case *date:
		return types.EncodeBigInt(o.millis)
	case *localDate:
		return types.EncodeDate(int64(o.days))
	case *duration:
		return types.EncodeDuration(o.months, o.days, o.nanos)
	case *byteBuffer:
		return o.remaining(t)
	}
	throw(classInvalidType, "Invalid value for CQL type "+driverKind(ct))
	return nil
}

// encodeNumber is the value of a result of a primitive type, which is as in value.
func encodeNumber(k kind, n int64) []byte {
	switch k {
	case booleanKind:
		return types.EncodeBoolean(n != 0)
	case byteKind:
		return []byte{byte(n)}
	case shortKind:
		return binary.BigEndian.AppendUint16(nil, uint16(n))
	case intKind:
		return binary.BigEndian.AppendUint32(make([]byte, 0, 4), uint32(n))
	case floatKind:
		return types.EncodeFloat(float32(math.Float64frombits(uint64(n))))
	case doubleKind:
		return types.EncodeDouble(math.Float64frombits(uint64(n)))
	}
	return binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(n))
}

// decodeNumber is a value, not null, of a CQL type whose Java type is primitive.
func decodeNumber(k kind, b []byte) int64 {
	switch k {
	case booleanKind:
		return fromBool(types.DecodeBoolean(b))
	case byteKind:
		return int64(types.DecodeTinyInt(b))
	case shortKind:
		return int64(types.DecodeSmallInt(b))
	case intKind:
		return int64(types.DecodeInt(b))
	case floatKind:
		return floatBits(float64(types.DecodeFloat(b)))
	case doubleKind:
		return floatBits(types.DecodeDouble(b))
	}
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// driverKind is the kind of a type, as the driver names it: list, udt, int.
func driverKind(ct types.Type) string {
	switch ct.(type) {
	case *types.List:
		return "list"
	case *types.Set:
		return "set"
	case *types.Map:
		return "map"
	case *types.Vector:
		return "vector"
	case *types.Tuple:
		return "tuple"
	case *types.UserType:
		return "udt"
	case *types.Custom:
		return "custom"
	}
	return driverName(ct)
}

// driverName is a type as the driver prints it.
func driverName(ct types.Type) string {
	switch ct := ct.(type) {
	case *types.UserType:
		return "frozen<" + ct.Keyspace + "." + types.Freeze(ct).String()[len("frozen<"):]
	case *types.List:
		return "list<" + driverName(ct.Elem) + ">"
	case *types.Set:
		return "set<" + driverName(ct.Elem) + ">"
	case *types.Map:
		return "map<" + driverName(ct.Key) + ", " + driverName(ct.Value) + ">"
	}
	return ct.String()
}
