package types

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"net"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	apache "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// goTypes are the Go types into which gocql reads native types.
var goTypes = map[Type]struct {
	id gocql.Type
	reflect.Type
}{
	ASCII:     {gocql.TypeAscii, reflect.TypeFor[string]()},
	BigInt:    {gocql.TypeBigInt, reflect.TypeFor[int64]()},
	Blob:      {gocql.TypeBlob, reflect.TypeFor[[]byte]()},
	Boolean:   {gocql.TypeBoolean, reflect.TypeFor[bool]()},
	Counter:   {gocql.TypeCounter, reflect.TypeFor[int64]()},
	Date:      {gocql.TypeDate, reflect.TypeFor[time.Time]()},
	Decimal:   {gocql.TypeDecimal, reflect.TypeFor[inf.Dec]()},
	Double:    {gocql.TypeDouble, reflect.TypeFor[float64]()},
	Duration:  {gocql.TypeDuration, reflect.TypeFor[gocql.Duration]()},
	Float:     {gocql.TypeFloat, reflect.TypeFor[float32]()},
	Inet:      {gocql.TypeInet, reflect.TypeFor[net.IP]()},
	Int:       {gocql.TypeInt, reflect.TypeFor[int]()},
	SmallInt:  {gocql.TypeSmallInt, reflect.TypeFor[int16]()},
	Text:      {gocql.TypeVarchar, reflect.TypeFor[string]()},
	Time:      {gocql.TypeTime, reflect.TypeFor[time.Duration]()},
	Timestamp: {gocql.TypeTimestamp, reflect.TypeFor[int64]()},
	TimeUUID:  {gocql.TypeTimeUUID, reflect.TypeFor[gocql.UUID]()},
	TinyInt:   {gocql.TypeTinyInt, reflect.TypeFor[int8]()},
	UUID:      {gocql.TypeUUID, reflect.TypeFor[gocql.UUID]()},
	VarInt:    {gocql.TypeVarint, reflect.TypeFor[big.Int]()},
}

// goType is gocql's description of a type, and the Go type of its values, with pointers where nulls are possible. ok is
// false for a type that gocql does not know.
func goType(t Type) (info gocql.TypeInfo, into reflect.Type, ok bool) {
	switch t := t.(type) {
	case *List:
		elem, into, ok := goType(t.Elem)
		return collection(gocql.TypeList, nil, elem), reflect.SliceOf(reflect.PointerTo(into)), ok
	case *Set:
		elem, into, ok := goType(t.Elem)
		return collection(gocql.TypeSet, nil, elem), reflect.SliceOf(into), ok
	case *Map:
		key, k, keyOK := goType(t.Key)
		value, v, ok := goType(t.Value)
		return collection(gocql.TypeMap, key, value), reflect.MapOf(k, v), keyOK && ok
	case *Tuple:
		info := gocql.TupleTypeInfo{NativeType: gocql.NewNativeType(4, gocql.TypeTuple, "")}
		var fields []reflect.StructField
		for i, e := range t.Elems {
			elem, _, known := goType(e)
			if !known {
				return nil, nil, false
			}
			field, err := elem.NewWithError()
			if err != nil {
				return nil, nil, false
			}
			info.Elems = append(info.Elems, elem)
			fields = append(fields, reflect.StructField{Name: "F" + strconv.Itoa(i), Type: reflect.TypeOf(field)})
		}
		return info, reflect.StructOf(fields), true
	case *UserType:
		info := gocql.UDTTypeInfo{NativeType: gocql.NewNativeType(4, gocql.TypeUDT, "")}
		var fields []reflect.StructField
		for i, f := range t.Fields {
			elem, into, known := goType(f.Type)
			if !known {
				return nil, nil, false
			}
			info.Elements = append(info.Elements, gocql.UDTField{Name: f.Name, Type: elem})
			fields = append(fields, reflect.StructField{
				Name: "F" + strconv.Itoa(i), Type: reflect.PointerTo(into), Tag: reflect.StructTag(`cql:"` + f.Name + `"`),
			})
		}
		return info, reflect.StructOf(fields), true
	}
	native, ok := goTypes[t]
	return gocql.NewNativeType(4, native.id, ""), native.Type, ok
}

func collection(id gocql.Type, key, elem gocql.TypeInfo) gocql.TypeInfo {
	return gocql.CollectionType{NativeType: gocql.NewNativeType(4, id, ""), Key: key, Elem: elem}
}

// unrepresentable has the files and bytes of gocql.txt.
func unrepresentable(t *testing.T) map[[2]string]bool {
	t.Helper()
	all := map[[2]string]bool{}
	for _, row := range readTable(t, "gocql.txt") {
		for _, b := range strings.Fields(row[1]) {
			all[[2]string{row[0], b}] = true
		}
	}
	return all
}

// gocql reads the recorded bytes and writes them again, except the values in gocql.txt, which it cannot represent.
func TestGocqlReadsValues(t *testing.T) {
	cannot := unrepresentable(t)
	forValues(t, func(t *testing.T, typ recordedType) {
		info, into, ok := goType(typ.Type)
		if !ok {
			if !cannot[[2]string{typ.file, "*"}] {
				t.Errorf("gocql has no such type")
			}
			return
		}
		for _, v := range typ.values {
			value := reflect.New(into)
			err := gocql.Unmarshal(info, v.bytes, value.Interface())
			var back []byte
			if err == nil {
				back, err = gocql.Marshal(info, value.Interface())
			}
			same := err == nil && back != nil && bytes.Equal(Normalize(typ.Type, back), v.bytes)
			if same == cannot[[2]string{typ.file, printHex(v.bytes)}] {
				t.Errorf("%s\t%s\t%x %v", typ.file, printHex(v.bytes), back, err)
			}
		}
	})
}

// printHex writes bytes as the files have them.
func printHex(b []byte) string {
	if len(b) == 0 {
		return "empty"
	}
	return hex.EncodeToString(b)
}

// vectorInto is the Go type into which the driver of Apache, which knows vectors, reads vectors of native types.
var vectorInto = map[Type]reflect.Type{
	Float:    reflect.TypeFor[[]float32](),
	Int:      reflect.TypeFor[[]int32](),
	SmallInt: reflect.TypeFor[[]int16](),
	Text:     reflect.TypeFor[[]string](),
	VarInt:   reflect.TypeFor[[]*big.Int](),
}

// The driver of Apache reads the recorded vectors and writes them again, except the values in gocql.txt.
func TestApacheReadsVectors(t *testing.T) {
	cannot := unrepresentable(t)
	forValues(t, func(t *testing.T, typ recordedType) {
		vector, ok := typ.Type.(*Vector)
		if !ok || vectorInto[vector.Elem] == nil {
			return
		}
		elem := apache.NewNativeType(4, apache.Type(goTypes[vector.Elem].id), "")
		info := apache.VectorType{SubType: elem, Dimensions: vector.Dim}
		for _, v := range typ.values {
			value := reflect.New(vectorInto[vector.Elem])
			err := apache.Unmarshal(info, v.bytes, value.Interface())
			var back []byte
			if err == nil {
				back, err = apache.Marshal(info, value.Elem().Interface())
			}
			same := err == nil && bytes.Equal(back, v.bytes)
			if same == cannot[[2]string{"apache " + typ.file, printHex(v.bytes)}] {
				t.Errorf("%x became %x, %v", v.bytes, back, err)
			}
		}
	})
}
