package types

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// benched is what is measured of a type: values of it made into Go's and back, beside what every type does.
type benched struct {
	Type
	name   string
	a, b   []byte
	recode func(b []byte) int // decodes a value, encodes it again and returns the number of bytes
	fixed  bool               // every value has one size: nothing may need memory
}

func benchedTypes() []benched {
	dictionary := &Map{Key: Text, Value: Int, Frozen: true}
	var keys, values [][]byte
	for i := range 10 {
		keys, values = append(keys, EncodeText("key "+strconv.Itoa(i))), append(values, EncodeInt(int32(i)))
	}
	entries := NewMap(dictionary, keys, values)
	values[9] = EncodeInt(-1)
	when := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	return []benched{
		{Int, "int", EncodeInt(7), EncodeInt(8), func(b []byte) int { return len(EncodeInt(DecodeInt(b))) }, true},
		{
			BigInt, "bigint", EncodeBigInt(-7), EncodeBigInt(8),
			func(b []byte) int { return len(EncodeBigInt(DecodeBigInt(b))) }, true,
		},
		{
			Timestamp, "timestamp", EncodeTimestamp(when), EncodeTimestamp(when.Add(time.Millisecond)),
			func(b []byte) int { return len(EncodeTimestamp(time.UnixMilli(DecodeBigInt(b)))) }, true,
		},
		{
			Double, "double", EncodeDouble(1.5), EncodeDouble(-1.5),
			func(b []byte) int { return len(EncodeDouble(DecodeDouble(b))) }, true,
		},
		{
			Text, "text of 20 characters", EncodeText("a text of twenty cha"), EncodeText("a text of twenty chb"),
			func(b []byte) int { return len(EncodeText(string(b))) }, false,
		},
		{dictionary, "map of 10 entries", entries, NewMap(dictionary, keys, values), func(b []byte) int {
			var keys, values [][]byte
			for k, v := range Entries(b) {
				keys, values = append(keys, k), append(values, v)
			}
			return len(NewMap(dictionary, keys, values))
		}, false},
	}
}

// used keeps results from being optimized away.
var used int

// work does everything once; key and value are given back for the next time.
func (t *benched) work(key, value []byte) ([]byte, []byte) {
	if t.Validate(t.a) != nil {
		panic(t.name + " is not valid")
	}
	used += t.Compare(t.a, t.b) + t.recode(t.a)
	key = t.AppendKey(key[:0], t.a, false)
	value, _, _ = t.DecodeKey(value[:0], key, false)
	return key, value
}

// BenchmarkValue measures checking, comparing, decoding and encoding a value, and its key both ways: together, and
// each alone.
func BenchmarkValue(b *testing.B) {
	for _, t := range benchedTypes() {
		key, value := make([]byte, 0, 512), make([]byte, 0, 512)
		for name, step := range map[string]func(){
			"all":     func() { key, value = t.work(key, value) },
			"check":   func() { _ = t.Validate(t.a) },
			"compare": func() { used += t.Compare(t.a, t.b) },
			"recode":  func() { used += t.recode(t.a) },
			"key":     func() { key = t.AppendKey(key[:0], t.a, false) },
		} {
			b.Run(t.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					step()
				}
			})
		}
	}
}

// Values of a fixed size need no memory.
func TestFixedSizesDoNotAllocate(t *testing.T) {
	for _, typ := range benchedTypes() {
		key, value := make([]byte, 0, 512), make([]byte, 0, 512)
		allocs := testing.AllocsPerRun(100, func() { key, value = typ.work(key, value) })
		if typ.fixed && allocs != 0 {
			t.Errorf("%s: %v allocations", typ.name, allocs)
		}
	}
}

// The types that most keys are of, and those of a fixed size, need no memory for keys and comparing, in either
// direction.
func TestKeysDoNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, typ := range []Type{
		Int, BigInt, Text, Blob, UUID, TimeUUID, Timestamp, TinyInt, SmallInt, Float, Double, Boolean, Date, Time, Inet,
		LexicalUUID,
		benchedTypes()[5].Type, &Vector{Elem: Float, Dim: 3},
	} {
		a, b := randomValue(r, typ), randomValue(r, typ)
		key, value := make([]byte, 0, 512), make([]byte, 0, 512)
		allocs := testing.AllocsPerRun(100, func() {
			_ = typ.Validate(a)
			_ = typ.Compare(a, b)
			for _, desc := range []bool{false, true} {
				key = typ.AppendKey(key[:0], a, desc)
				value, _, _ = typ.DecodeKey(value[:0], key, desc)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", typ, allocs)
		}
	}
}
