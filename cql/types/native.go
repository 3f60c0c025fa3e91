package types

import (
	"bytes"

	"github.com/cqld/cqld/cql/types/json"
)

// native is the part all native types share: their name and class, and default methods.
type native struct{ name, class string }

// String is the name in lower case.
func (n *native) String() string { return n.name }

// ClassName is the class in the package of Cassandra's types.
func (n *native) ClassName() string { return marshalPackage + n.class }

// LossyKey is false: most types have one spelling of each value.
func (*native) LossyKey() bool { return false }

// FixedLength is 0 by default.
func (*native) FixedLength() int { return 0 }

// isNative tells native types from the others, for EmptyIsNull.
func (*native) isNative() {}

// byteString is a native type whose values are ordered by their bytes.
type byteString struct {
	native
	bytesOrder
}

// bytesOrder is the order of types whose values have any length and are ordered by their bytes.
type bytesOrder struct{}

// Compare orders by unsigned bytes.
func (bytesOrder) Compare(a, b []byte) int { return bytes.Compare(a, b) }

// AppendKey escapes zero bytes.
func (bytesOrder) AppendKey(dst, b []byte, desc bool) []byte { return appendBytesKey(dst, b, desc) }

// DecodeKey undoes AppendKey.
func (bytesOrder) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeBytesKey(dst, key, desc)
}

// marshalPackage is the Java package of Cassandra's types: every class name begins with it.
const marshalPackage = "org.apache.cassandra.db.marshal."

// The native types, in alphabetical order. Each is described in its own file.
var (
	ASCII     Type = &asciiType{byteString{native: native{"ascii", "AsciiType"}}}
	BigInt    Type = &integerType{fixedSize{native{"bigint", "LongType"}, 8, signBit, true}, "long"}
	Blob      Type = &blobType{byteString{native: native{"blob", "BytesType"}}}
	Boolean   Type = &booleanType{fixedSize{native{"boolean", "BooleanType"}, 1, 0, true}}
	Counter   Type = &counterType{integerType{fixedSize{native{"counter", "CounterColumnType"}, 8, signBit, true}, "long"}}
	Date      Type = &dateType{fixedSize{native{"date", "SimpleDateType"}, 4, 0, false}}
	Decimal   Type = &decimalType{native{"decimal", "DecimalType"}}
	Double    Type = &floatType{fixedSize{native{"double", "DoubleType"}, 8, 0, true}}
	Duration  Type = &durationType{byteString{native: native{"duration", "DurationType"}}}
	Empty     Type = &emptyType{native{"empty", "EmptyType"}}
	Float     Type = &floatType{fixedSize{native{"float", "FloatType"}, 4, 0, true}}
	Inet      Type = &inetType{byteString{native: native{"inet", "InetAddressType"}}}
	Int       Type = &integerType{fixedSize{native{"int", "Int32Type"}, 4, signBit, true}, "int"}
	SmallInt  Type = &integerType{fixedSize{native{"smallint", "ShortType"}, 2, signBit, false}, "short"}
	Text      Type = &textType{byteString{native: native{"text", "UTF8Type"}}}
	Time      Type = &timeType{fixedSize{native{"time", "TimeType"}, 8, 0, false}}
	Timestamp Type = &timestampType{fixedSize{native{"timestamp", "TimestampType"}, 8, signBit, true}}
	TimeUUID  Type = &timeuuidType{uuidSize("timeuuid", "TimeUUIDType")}
	TinyInt   Type = &integerType{fixedSize{native{"tinyint", "ByteType"}, 1, signBit, false}, "byte"}
	UUID      Type = &uuidType{uuidSize("uuid", "UUIDType")}
	VarInt    Type = &varintType{native{"varint", "IntegerType"}}
)

func uuidSize(name, class string) fixedSize {
	return fixedSize{native{name, class}, 16, 0, true}
}

// LegacyTimeUUID is timeuuid as min, max and blob_as_timeuuid return it: under another class name.
var LegacyTimeUUID Type = &timeuuidType{uuidSize("timeuuid", "LegacyTimeUUIDType")}

// natives has the native types that CQL has a name for, in alphabetical order.
var natives = []Type{
	ASCII, BigInt, Blob, Boolean, Counter, Date, Decimal, Double, Duration, Float, Inet, Int, SmallInt,
	Text, Time, Timestamp, TimeUUID, TinyInt, UUID, VarInt,
}

// nativeByName is the table that Native looks into.
var nativeByName = func() map[string]Type {
	m := map[string]Type{"varchar": Text}
	for _, t := range natives {
		m[t.String()] = t
	}
	return m
}()

// Native returns the native type of that name in lower case; varchar is another name of text.
func Native(name string) (Type, bool) {
	t, ok := nativeByName[name]
	return t, ok
}

// Natives returns the native types that CQL has a name for, in alphabetical order.
func Natives() []Type { return append([]Type(nil), natives...) }

// emptyType has one value, the empty one. Only tables created WITH COMPACT STORAGE have columns of it.
type emptyType struct{ native }

// Validate refuses all bytes.
func (*emptyType) Validate(b []byte) error {
	if len(b) != 0 {
		return invalidf("EmptyType only accept empty values")
	}
	return nil
}

// Compare is 0: there is one value.
func (*emptyType) Compare(_, _ []byte) int { return 0 }

// AppendKey appends the mark of the empty value.
func (*emptyType) AppendKey(dst, _ []byte, desc bool) []byte { return append(dst, keyEmpty^mask(desc)) }

// DecodeKey gives the empty value.
func (*emptyType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	if len(key) == 0 || key[0] != keyEmpty^mask(desc) {
		return nil, nil, errKey
	}
	return notNil(dst), key[1:], nil
}

// ParseLiteral takes nothing.
func (*emptyType) ParseLiteral(LiteralKind, string) ([]byte, error) { return nil, ErrKind }

// Format prints null.
func (*emptyType) Format([]byte) string { return noLiteral }

// ParseJSON takes the string of no characters.
func (*emptyType) ParseJSON(v json.Value) ([]byte, error) {
	if s, ok := v.(json.String); !ok {
		return nil, invalidf("Expected an empty string, but got: %s", v)
	} else if s != "" {
		return nil, invalidf("'%s' is not empty", s)
	}
	return []byte{}, nil
}

// AppendJSON prints the string of no characters.
func (*emptyType) AppendJSON(dst, _ []byte) []byte { return append(dst, `""`...) }

// EmptyIsNull reports whether functions treat the empty value of t as null, as for numbers, times and addresses. The
// empty text or blob is an ordinary value.
func EmptyIsNull(t Type) bool {
	switch t {
	case ASCII, Text, Blob, Empty:
		return false
	}
	_, isNative := t.(interface{ isNative() })
	return isNative
}

// noLiteral is the literal of an empty value if EmptyIsNull, and of the value of the type empty.
const noLiteral = "null"
