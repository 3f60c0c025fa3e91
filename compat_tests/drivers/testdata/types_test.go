package types

import (
	"bytes"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// gocql encodes Go values to the same bytes as we encode their literals, and decodes these bytes to the values.
func TestGocqlAgrees(t *testing.T) {
	uuid, _ := gocql.ParseUUID("50554d6e-29bb-11e5-b345-feff819cdc9f")
	day := time.Date(2020, 2, 29, 0, 0, 0, 0, time.UTC)
	huge, _ := new(big.Int).SetString("-18446744073709551617", 10)
	for _, test := range []struct {
		t       Type
		id      gocql.Type
		kind    LiteralKind
		text    string
		value   any
		pointer any
	}{
		{ASCII, gocql.TypeAscii, StringLiteral, "abc", "abc", new(string)},
		{BigInt, gocql.TypeBigInt, IntegerLiteral, "-5", int64(-5), new(int64)},
		{Blob, gocql.TypeBlob, HexLiteral, "0x00ff", []byte{0, 0xFF}, new([]byte)},
		{Boolean, gocql.TypeBoolean, BooleanLiteral, "TRUE", true, new(bool)},
		{Date, gocql.TypeDate, StringLiteral, "2020-02-29", day, new(time.Time)},
		{Decimal, gocql.TypeDecimal, FloatLiteral, "-123.450", inf.NewDec(-123450, 3), new(inf.Dec)},
		{Double, gocql.TypeDouble, FloatLiteral, "1.25", 1.25, new(float64)},
		{
			Duration, gocql.TypeDuration, DurationLiteral, "-1mo2d3ns",
			gocql.Duration{Months: -1, Days: -2, Nanoseconds: -3},
			new(gocql.Duration),
		},
		{Float, gocql.TypeFloat, FloatLiteral, "1.25", float32(1.25), new(float32)},
		{Inet, gocql.TypeInet, StringLiteral, "10.1.2.3", net.IP{10, 1, 2, 3}, new(net.IP)},
		{Int, gocql.TypeInt, IntegerLiteral, "-5", -5, new(int)},
		{SmallInt, gocql.TypeSmallInt, IntegerLiteral, "-5", int16(-5), new(int16)},
		{Text, gocql.TypeVarchar, StringLiteral, "é", "é", new(string)},
		{
			Time, gocql.TypeTime, StringLiteral, "1:2:3.5", time.Hour + 2*time.Minute + 3500*time.Millisecond,
			new(time.Duration),
		},
		{Timestamp, gocql.TypeTimestamp, StringLiteral, "2020-02-29", day, new(time.Time)},
		{TimeUUID, gocql.TypeTimeUUID, UUIDLiteral, uuid.String(), uuid, new(gocql.UUID)},
		{TinyInt, gocql.TypeTinyInt, IntegerLiteral, "-5", int8(-5), new(int8)},
		{UUID, gocql.TypeUUID, UUIDLiteral, uuid.String(), uuid, new(gocql.UUID)},
		{VarInt, gocql.TypeVarint, IntegerLiteral, huge.String(), huge, new(big.Int)},
	} {
		info := gocql.NewNativeType(4, test.id, "")
		want, err := gocql.Marshal(info, test.value)
		if err != nil {
			t.Fatalf("%s: %v", test.t, err)
		}
		got, err := test.t.ParseLiteral(test.kind, test.text)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got %x, %v; gocql has %x", test.t, got, err, want)
		}
		if err := gocql.Unmarshal(info, got, test.pointer); err != nil {
			t.Errorf("%s: gocql does not read %x: %v", test.t, got, err)
			continue
		}
		if back, err := gocql.Marshal(info, test.pointer); err != nil || !bytes.Equal(back, want) {
			t.Errorf("%s: gocql read %x as %x, %v", test.t, got, back, err)
		}
	}
}

func TestGocqlCollectionsAgree(t *testing.T) {
	integer := gocql.NewNativeType(4, gocql.TypeInt, "")
	text := gocql.NewNativeType(4, gocql.TypeVarchar, "")
	for _, test := range []struct {
		info  gocql.TypeInfo
		t     Type
		value any
		want  []byte
	}{
		{
			gocql.CollectionType{NativeType: gocql.NewNativeType(4, gocql.TypeList, ""), Elem: integer},
			&List{Elem: Int},
			[]int{2, 1},
			NewList([][]byte{EncodeInt(2), EncodeInt(1)}),
		},
		{
			gocql.CollectionType{NativeType: gocql.NewNativeType(4, gocql.TypeSet, ""), Elem: integer},
			&Set{Elem: Int},
			[]int{2, 1, 2},
			NewSet(&Set{Elem: Int}, [][]byte{EncodeInt(1), EncodeInt(2)}),
		},
		{
			gocql.CollectionType{NativeType: gocql.NewNativeType(4, gocql.TypeMap, ""), Key: integer, Elem: text},
			&Map{Key: Int, Value: Text},
			map[int]string{2: "b", 1: "a"},
			NewMap(&Map{Key: Int, Value: Text}, [][]byte{EncodeInt(2), EncodeInt(1)}, [][]byte{[]byte("b"), []byte("a")}),
		},
		{
			gocql.TupleTypeInfo{
				NativeType: gocql.NewNativeType(4, gocql.TypeTuple, ""), Elems: []gocql.TypeInfo{integer, text},
			},
			&Tuple{Elems: []Type{Int, Text}},
			[]any{1, "a"},
			NewTuple([][]byte{EncodeInt(1), []byte("a")}),
		},
	} {
		b, err := gocql.Marshal(test.info, test.value)
		if err != nil || test.t.Validate(b) != nil {
			t.Fatalf("%s: %x, %v, %v", test.t, b, err, test.t.Validate(b))
		}
		if got := Normalize(test.t, b); !bytes.Equal(got, test.want) {
			t.Errorf("%s: gocql has %x, which becomes %x; want %x", test.t, b, got, test.want)
		}
	}
}
