package types

// native is the part all native types share: their name and class. Methods that most types have in
// common are on it, and the others replace them.
type native struct{ name, class string }

// String is the name in lower case.
func (n *native) String() string { return n.name }

// ClassName is the class in the package of Cassandra's types.
func (n *native) ClassName() string { return marshalPackage + n.class }

// LossyKey is false: most types have one spelling of each value.
func (*native) LossyKey() bool { return false }

// FixedLength is 0, for the types that do not say otherwise.
func (*native) FixedLength() int { return 0 }

// isNative tells native types from the others, for EmptyIsNull.
func (*native) isNative() {}

// marshalPackage is the Java package of Cassandra's types: every class name begins with it.
const marshalPackage = "org.apache.cassandra.db.marshal."

// The native types, in alphabetical order. Each is described in its own file.
var (
	ASCII     Type = &asciiType{native{"ascii", "AsciiType"}}
	BigInt    Type = &bigintType{native{"bigint", "LongType"}}
	Blob      Type = &blobType{native{"blob", "BytesType"}}
	Boolean   Type = &booleanType{native{"boolean", "BooleanType"}}
	Counter   Type = &counterType{bigintType{native{"counter", "CounterColumnType"}}}
	Date      Type = &dateType{native{"date", "SimpleDateType"}}
	Decimal   Type = &decimalType{native{"decimal", "DecimalType"}}
	Double    Type = &doubleType{native{"double", "DoubleType"}}
	Duration  Type = &durationType{native{"duration", "DurationType"}}
	Empty     Type = &emptyType{native{"empty", "EmptyType"}}
	Float     Type = &floatType{native{"float", "FloatType"}}
	Inet      Type = &inetType{native{"inet", "InetAddressType"}}
	Int       Type = &intType{native{"int", "Int32Type"}}
	SmallInt  Type = &smallintType{native{"smallint", "ShortType"}}
	Text      Type = &textType{native{"text", "UTF8Type"}}
	Time      Type = &timeType{native{"time", "TimeType"}}
	Timestamp Type = &timestampType{native{"timestamp", "TimestampType"}}
	TimeUUID  Type = &timeuuidType{native{"timeuuid", "TimeUUIDType"}}
	TinyInt   Type = &tinyintType{native{"tinyint", "ByteType"}}
	UUID      Type = &uuidType{native{"uuid", "UUIDType"}}
	VarInt    Type = &varintType{native{"varint", "IntegerType"}}
)

// LegacyTimeUUID is timeuuid as min, max and blob_as_timeuuid return it: under another class name.
var LegacyTimeUUID Type = &timeuuidType{native{"timeuuid", "LegacyTimeUUIDType"}}

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
