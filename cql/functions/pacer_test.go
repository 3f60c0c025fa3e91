package functions

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/types"
)

// digitsOf is a number of n digits.
func digitsOf(n int64) *big.Int {
	v := power10(n - 1)
	return v.Add(v, big.NewInt(7))
}

func varint(v *big.Int) types.Value { return types.Value{Bytes: types.EncodeVarInt(v)} }

// call calls the function for arguments of those types.
func call(t *testing.T, env *Env, name string, ts []types.Type, args ...types.Value) (types.Value, error) {
	t.Helper()
	as := make([]Arg, len(ts))
	for i := range ts {
		as[i] = Arg{Type: ts[i], Likely: ts[i], Fits: func(to types.Type) Fit { return TypeFit(to, ts[i]) }}
	}
	f, err := ResolveArgs("system."+name, as, nil)
	if err != nil {
		t.Fatal(name, err)
	}
	if !f.Costly {
		t.Errorf("%s does not say that it may take long", f)
	}
	return f.Call(&Call{Args: args, Env: env})
}

// TestLongNumbers computes with numbers of which each operation would take long: they are refused, but where that
// takes little.
func TestLongNumbers(t *testing.T) {
	n, d := types.VarInt, types.Decimal
	half, long := digitsOf(60_000), digitsOf(1_000_000)
	dec := func(v *big.Int, scale int32) types.Value { return types.Value{Bytes: types.EncodeDecimal(v, scale)} }
	two := varint(big.NewInt(2))
	refused := "numbers of more than 100000 digits are not computed by cqld"
	for _, test := range []struct {
		name string
		ts   []types.Type
		args []types.Value
		want string // in the error
	}{
		{"_multiply", []types.Type{n, n}, []types.Value{varint(half), varint(half)}, refused},
		{"_multiply", []types.Type{n, n}, []types.Value{varint(half), two}, ""},
		{"_multiply", []types.Type{n, n}, []types.Value{varint(long), varint(new(big.Int))}, ""},
		{"_divide", []types.Type{n, n}, []types.Value{varint(long), varint(half)}, refused},
		{"_modulo", []types.Type{n, n}, []types.Value{varint(long), varint(half)}, refused},
		{"_divide", []types.Type{n, n}, []types.Value{varint(long), two}, ""},
		{"_add", []types.Type{n, n}, []types.Value{varint(long), varint(long)}, ""},
		{"_add", []types.Type{d, d}, []types.Value{dec(long, 3), dec(half, 2)}, refused},
		{"_multiply", []types.Type{d, d}, []types.Value{dec(half, 3), dec(half, 2)}, ""},
		{"exp", []types.Type{d}, []types.Value{dec(long, 1_000_000)}, refused},
		{"log", []types.Type{n}, []types.Value{varint(long)}, refused},
		{"log10", []types.Type{d}, []types.Value{dec(long, 7)}, refused},
		{"round", []types.Type{d}, []types.Value{dec(long, 7)}, refused},
		{"abs", []types.Type{n}, []types.Value{varint(long)}, ""},
		{"cast_as_text", []types.Type{n}, []types.Value{varint(long)}, refused},
		{"cast_as_ascii", []types.Type{d}, []types.Value{dec(long, 2)}, refused},
		{"cast_as_double", []types.Type{n}, []types.Value{varint(long)}, refused},
		{"cast_as_int", []types.Type{d}, []types.Value{dec(long, 9)}, refused},
		{"cast_as_int", []types.Type{n}, []types.Value{varint(long)}, ""},
		{
			"to_json",
			[]types.Type{n},
			[]types.Value{varint(long)},
			"numbers of more than 100000 digits are not printed by cqld",
		},
		{"to_json", []types.Type{n}, []types.Value{varint(half)}, ""},
	} {
		_, err := call(t, nil, test.name, test.ts, test.args...)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s of %v: %v, want %q", test.name, test.ts, err, test.want)
		}
	}
	text := types.Value{Bytes: bytes.Repeat([]byte("x"), maxText/2+1)}
	if _, err := call(t, nil, "_add", []types.Type{types.Text, types.Text}, text, text); err == nil ||
		!strings.Contains(err.Error(), "texts of more than 16777216 bytes are not put together by cqld") {
		t.Error(err)
	}

	// Sums need no bound, but digits between the numbers.
	sum := &decimalSum{}
	for _, scale := range []int32{5, 5} {
		if err := sum.Add([]types.Value{dec(long, scale)}); err != nil {
			t.Error(err)
		}
	}
	if err := sum.Add([]types.Value{dec(big.NewInt(1), 7)}); err == nil || !strings.Contains(err.Error(), refused) {
		t.Error(err)
	}
}

// TestPaced computes what takes long: others may run all the while, and the computation ends when they say so.
func TestPaced(t *testing.T) {
	stop := errors.New("stop")
	n, d := types.VarInt, types.Decimal
	numbers := &types.List{Elem: n}
	elements := make([][]byte, 2000)
	for i := range elements {
		elements[i] = types.EncodeVarInt(digitsOf(500))
	}
	list := types.Value{Bytes: types.NewList(elements)}
	m := &types.Map{Key: types.Int, Value: n}
	keys := make([][]byte, len(elements))
	for i := range keys {
		keys[i] = types.EncodeInt(int32(i))
	}
	entries := types.Value{Bytes: types.NewMap(m, keys, elements)}
	text := types.Value{Bytes: bytes.Repeat([]byte("x"), 100_000)}
	one := types.Value{Bytes: types.EncodeInt(1)}
	for _, test := range []struct {
		name string
		t    types.Type
		arg  types.Value
		more []types.Value // int arguments
	}{
		{"exp", d, types.Value{Bytes: types.EncodeDecimal(digitsOf(1000), 998)}, nil},
		{"log", d, types.Value{Bytes: types.EncodeDecimal(digitsOf(300), 70)}, nil},
		{"log10", n, varint(digitsOf(300)), nil},
		{"collection_sum", numbers, list, nil},
		{"collection_max", numbers, list, nil},
		{"to_json", numbers, list, nil},
		{"to_json", &types.Set{Elem: numbers}, types.Value{Bytes: types.NewList([][]byte{list.Bytes})}, nil},
		{"map_keys", m, entries, nil},
		{"map_values", m, entries, nil},
		{"mask_hash", types.Text, text, nil},
		{"mask_inner", types.Text, text, []types.Value{one, one}},
		{"mask_outer", types.ASCII, text, []types.Value{one, one}},
	} {
		steps, most := 0, 1<<60
		env := &Env{Step: func() error {
			if steps++; steps > most {
				return stop
			}
			return nil
		}}
		ts, args := []types.Type{test.t}, append([]types.Value{test.arg}, test.more...)
		for range test.more {
			ts = append(ts, types.Int)
		}
		if _, err := call(t, env, test.name, ts, args...); err != nil || steps < 20 {
			t.Errorf("%s of %v: %d steps, %v", test.name, test.t, steps, err)
		}
		steps, most = 0, 10
		if _, err := call(t, env, test.name, ts, args...); !errors.Is(err, stop) || steps != most+1 {
			t.Errorf("%s of %v: %v after %d steps, want the end after %d", test.name, test.t, err, steps, most+1)
		}
	}
	testPacedJSON(t, stop)
	// A logarithm that takes minutes ends too.
	steps := 0
	env := &Env{Step: func() error {
		if steps++; steps > 3 {
			return stop
		}
		return nil
	}}
	if _, err := call(t, env, "log", []types.Type{d},
		types.Value{Bytes: types.EncodeDecimal(digitsOf(90_000), 5)}); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// testPacedJSON reads long texts of JSON: a list of many numbers, and one string.
func testPacedJSON(t *testing.T, stop error) {
	for text, of := range map[string]types.Type{
		"[" + strings.Repeat("1, ", 50_000) + "1]": &types.List{Elem: types.Int},
		"\"" + strings.Repeat("x", 150_000) + "\"": types.Text,
	} {
		f, err := ResolveArgs("from_json", []Arg{{Type: types.Text}}, of)
		if err != nil {
			t.Fatal(err)
		}
		steps, most := 0, 1<<60
		c := &Call{Args: []types.Value{{Bytes: []byte(text)}}, Env: &Env{Step: func() error {
			if steps++; steps > most {
				return stop
			}
			return nil
		}}}
		if _, err := f.Call(c); err != nil || steps < 20 {
			t.Errorf("%v: %d steps, %v", of, steps, err)
		}
		steps, most = 0, 10
		if _, err := f.Call(c); !errors.Is(err, stop) || steps != most+1 {
			t.Errorf("%v: %v after %d steps", of, err, steps)
		}
	}
}

// TestZerosAtTheEnd takes many zeros off a quotient at once, and leaves other digits alone.
func TestZerosAtTheEnd(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b, err := calculateDecimal('/', types.Decimal, types.Decimal, types.EncodeDecimal(digitsOf(50_000), -40_000),
		types.EncodeDecimal(power10(20), 0))
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if unscaled, scale := types.DecodeDecimal(b); scale != -39_980 || unscaled.Cmp(digitsOf(50_000)) != 0 {
		t.Errorf("%d digits, scale %d", digits(unscaled), scale)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 20<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
	for zeros := range int64(70) {
		d := decimal{new(big.Int).Mul(big.NewInt(-123), power10(zeros)), 5}
		if got := d.stripped(-1000); got.unscaled.Int64() != -123 || int64(got.scale) != 5-zeros {
			t.Errorf("%d zeros: %v", zeros, got)
		}
		if got := d.stripped(2); int64(got.scale) != max(2, 5-zeros) {
			t.Errorf("%d zeros, at least 2: %v", zeros, got)
		}
	}
}

func TestDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range int64(400) {
		power := power10(n)
		for _, v := range []*big.Int{
			power, new(big.Int).Sub(power, big.NewInt(1)), new(big.Int).Add(power, big.NewInt(1)), new(big.Int).Neg(power),
			new(big.Int).Lsh(big.NewInt(int64(r.IntN(1000))), uint(r.IntN(1500))),
		} {
			if got, want := digits(v), len(new(big.Int).Abs(v).String()); got != want {
				t.Errorf("%v has %d digits, want %d", v, got, want)
			}
		}
	}
}
