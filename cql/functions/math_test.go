package functions

import (
	"testing"

	"github.com/cqld/cqld/cql/types"
)

// Where Cassandra lets a Java exception out, or would compute for hours, there is an error that says why.
func TestMathRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		of   types.Type
		arg  string
		want string
	}{
		{"log", types.Decimal, "0.00", "Natural log of number zero or less"},
		{"log", types.VarInt, "-1", "Natural log of number zero or less"},
		{"log10", types.Decimal, "-5", "Log10 of number zero or less"},
		{"log10", types.VarInt, "0", "Log10 of number zero or less"},
		{"exp", types.Decimal, "2147483648", "Overflow"},
		{"exp", types.Decimal, "-1e100", "Overflow"},
		{"exp", types.Decimal, "1e2000000000", "Overflow"},
		{"exp", types.VarInt, "1000000000", "numbers of more than 100000 digits are not computed by cqld"},
		{"round", types.Decimal, "1e2000000000", "numbers of more than 100000 digits are not computed by cqld"},
	} {
		f, err := Resolve(test.name, []types.Type{test.of})
		if err != nil {
			t.Fatal(err)
		}
		v, err := f.Call(&Call{Args: []types.Value{{Bytes: parseNumber(t, test.of, test.arg)}}})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s of %s %s: got %x, %v; want %s", test.name, test.of, test.arg, v.Bytes, err, test.want)
		}
	}
}

// Decimals with the most extreme exponents are computed without writing their digits out.
func TestMathExtremes(t *testing.T) {
	for _, test := range []struct{ name, arg, want string }{
		{"exp", "1e-2000000000", "1.0000000000000000000000000000000"},
		{"log", "1e2000000000", "4605170185.9880913680359829093687"},
		{"log", "1e-2000000000", "-4605170185.9880913680359829093687"},
		{"round", "1e-2000000000", "0"},
		{"abs", "-1e2000000000", "1E+2000000000"},
	} {
		f, err := Resolve(test.name, []types.Type{types.Decimal})
		if err != nil {
			t.Fatal(err)
		}
		v, err := f.Call(&Call{Args: []types.Value{{Bytes: parseNumber(t, types.Decimal, test.arg)}}})
		if err != nil || types.Decimal.Format(v.Bytes) != test.want {
			t.Errorf("%s of %s: got %s, %v; want %s", test.name, test.arg, types.Decimal.Format(v.Bytes), err, test.want)
		}
	}
}
