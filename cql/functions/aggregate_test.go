package functions

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/types"
)

// The results were recorded from Cassandra 5.0: a row for each value, in this order.
var aggregateResults = []struct {
	t                  types.Type
	values             string
	sum, avg, min, max string
}{
	{
		types.Double, "694.8674738744653 527.5492379532282 -489.8619485211566 -9.129825816118114 " +
			"-101.01787042252374 303.18594544552593 577.4467022710264 -812.2808264515302 -943.3050469559873",
		"c06f917a21a61078", "c03c0f8901772b15", "c08d7a70bc755dae", "4085b6f0962487b4",
	},
	{types.Double, "1e308 1e308", "7ff0000000000000", "7fe1ccf385ebc8a0", "7fe1ccf385ebc8a0", "7fe1ccf385ebc8a0"},
	{types.Double, "Infinity -Infinity", "fff8000000000000", "fff8000000000000", "fff0000000000000", "7ff0000000000000"},
	{types.Double, "Infinity Infinity", "7ff0000000000000", "7ff0000000000000", "7ff0000000000000", "7ff0000000000000"},
	{types.Double, "1e16 1 -1e16", "0000000000000000", "0000000000000000", "c341c37937e08000", "4341c37937e08000"},
	{
		types.Double, "0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1",
		"3ff0000000000000", "3fb999999999999a", "3fb999999999999a", "3fb999999999999a",
	},
	{types.Double, "NaN 1", "7ff8000000000000", "7ff8000000000000", "3ff0000000000000", "7ff8000000000000"},
	{types.Double, "", "0000000000000000", "0000000000000000", "null", "null"},
	{types.Float, "0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1", "3f800000", "3dcccccd", "3dcccccd", "3dcccccd"},
	{types.Float, "3e38 3e38", "7f800000", "7f61b1e6", "7f61b1e6", "7f61b1e6"},
	{types.Float, "16777216 1 1", "4b800001", "4aaaaaac", "3f800000", "4b800000"},
	{types.Float, "1 2", "40400000", "3fc00000", "3f800000", "40000000"},
	{types.Decimal, "1 2 3 4", "000000000a", "0000000002", "0000000001", "0000000004"},
	{types.Decimal, "1.0 2.00 3", "000000020258", "0000000200c8", "000000010a", "0000000003"},
	{types.Decimal, "1.5 2.5", "0000000128", "0000000114", "000000010f", "0000000119"},
	{types.Decimal, "-1 -2", "00000000fd", "00000000ff", "00000000fe", "00000000ff"},
	{types.Decimal, "1e3 1", "0000000003e9", "0000000001f4", "0000000001", "fffffffd01"},
	{types.Decimal, "1 2 2", "0000000005", "0000000001", "0000000001", "0000000002"},
	{types.Decimal, "0.5 0.25 0.125", "00000003036b", "000000030127", "000000037d", "0000000105"},
	{types.Decimal, "", "0000000000", "0000000000", "null", "null"},
	{types.VarInt, "1 2", "03", "01", "01", "02"},
	{types.VarInt, "-1 -2", "fd", "ff", "fe", "ff"},
	{
		types.BigInt, "9223372036854775807 9223372036854775807",
		"fffffffffffffffe", "7fffffffffffffff", "7fffffffffffffff", "7fffffffffffffff",
	},
	{types.Int, "2147483647 2147483647", "fffffffe", "7fffffff", "7fffffff", "7fffffff"},
	{types.Int, "-1 -2", "fffffffd", "ffffffff", "fffffffe", "ffffffff"},
	{types.Int, "5 null 7", "0000000c", "00000006", "00000005", "00000007"},
	{types.Int, "", "00000000", "00000000", "null", "null"},
	{types.TinyInt, "127 127 1", "ff", "55", "01", "7f"},
	{types.TinyInt, "-128 -128", "00", "80", "80", "80"},
}

func TestAggregates(t *testing.T) {
	for _, test := range aggregateResults {
		for name, want := range map[string]string{"sum": test.sum, "avg": test.avg, "min": test.min, "max": test.max} {
			f, err := Resolve(name, []types.Type{test.t})
			if err != nil {
				t.Fatal(err)
			}
			state := f.Init()
			for _, text := range strings.Fields(test.values) {
				var v types.Value
				if text != "null" {
					v.Bytes = parseNumber(t, test.t, text)
				}
				if err := state.Add([]types.Value{v}); err != nil {
					t.Fatal(err)
				}
			}
			v, err := state.Result()
			got := hex.EncodeToString(v.Bytes)
			if v.Bytes == nil {
				got = "null"
			}
			if err != nil || got != want {
				t.Errorf("%s of %s %s: got %s, %v; want %s", name, test.t, test.values, got, err, want)
			}
		}
	}
}

func parseNumber(t *testing.T, typ types.Type, text string) []byte {
	t.Helper()
	for _, kind := range []types.LiteralKind{types.IntegerLiteral, types.FloatLiteral} {
		if b, err := typ.ParseLiteral(kind, text); err == nil {
			return b
		}
	}
	t.Fatalf("%s is no %s", text, typ)
	return nil
}

// Rows are counted whatever is in them, values unless they are null; the empty value counts.
func TestCount(t *testing.T) {
	rows, err := Resolve("count_rows", nil)
	if err != nil {
		t.Fatal(err)
	}
	values, err := Resolve("count", []types.Type{types.Int})
	if err != nil {
		t.Fatal(err)
	}
	r, v := rows.Init(), values.Init()
	for _, b := range [][]byte{nil, {}, {0, 0, 0, 1}} {
		if err := r.Add(nil); err != nil {
			t.Fatal(err)
		}
		if err := v.Add([]types.Value{{Bytes: b}}); err != nil {
			t.Fatal(err)
		}
	}
	for want, a := range map[int64]Aggregate{3: r, 2: v} {
		if got, err := a.Result(); err != nil || types.DecodeBigInt(got.Bytes) != want {
			t.Errorf("got %x, %v; want %d", got.Bytes, err, want)
		}
	}
}

// Two decimals whose sum would fill memory are refused.
func TestDecimalsFarApart(t *testing.T) {
	f, err := Resolve("sum", []types.Type{types.Decimal})
	if err != nil {
		t.Fatal(err)
	}
	state := f.Init()
	for i, text := range []string{"1e1000000000", "1"} {
		err = state.Add([]types.Value{{Bytes: parseNumber(t, types.Decimal, text)}})
		if i == 0 && err == nil {
			t.Errorf("%s was added to zero", text)
		}
	}
	if err != nil {
		t.Errorf("1: %v", err)
	}
}
