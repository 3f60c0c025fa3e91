package types

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// pairs is how many pairs of values of each type are compared. make properties wants a million.
var pairs = flag.Int("pairs", 100_000, "how many pairs of values of each type to compare")

// sampleSize is how many values the pairs are made of.
const sampleSize = 2000

// forSamples runs a test for each type, with values in the order of their keys.
func forSamples(t *testing.T, test func(t *testing.T, r *rand.Rand, typ recordedType, values [][]byte)) {
	for _, typ := range propertyTypes(t) {
		t.Run(typ.file, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			test(t, r, typ, samples(r, typ, sampleSize))
		})
	}
}

// Keys sort as values compare, in both directions, and none is a prefix of another.
func TestPropertyKeyOrder(t *testing.T) {
	forSamples(t, func(t *testing.T, r *rand.Rand, typ recordedType, values [][]byte) {
		slices.SortFunc(values, typ.Compare)
		up, down := make([][]byte, len(values)), make([][]byte, len(values))
		for i, v := range values {
			up[i], down[i] = typ.AppendKey(nil, v, false), typ.AppendKey(nil, v, true)
		}
		for n := range *pairs {
			i, j := r.IntN(len(values)), r.IntN(len(values))
			if n%2 == 0 { // neighbours are equal or nearly so
				j = min(len(values)-1, i+r.IntN(4))
			}
			want := sign(typ.Compare(values[i], values[j]))
			switch {
			case sign(typ.Compare(values[j], values[i])) != -want:
				t.Fatalf("compare %x, %x is %d, but not the opposite the other way", values[i], values[j], want)
			case bytes.Compare(up[i], up[j]) != want:
				t.Fatalf("keys of %x, %x: %x, %x, want %d", values[i], values[j], up[i], up[j], want)
			case bytes.Compare(down[i], down[j]) != -want:
				t.Fatalf("descending keys of %x, %x: %x, %x, want %d", values[i], values[j], down[i], down[j], -want)
			case want != 0 && (bytes.HasPrefix(up[i], up[j]) || bytes.HasPrefix(down[i], down[j])):
				t.Fatalf("the key of %x is a prefix of that of %x", values[j], values[i])
			}
		}
	})
}

// What is not after another is not after what that is not after.
func TestPropertyTransitive(t *testing.T) {
	forSamples(t, func(t *testing.T, r *rand.Rand, typ recordedType, values [][]byte) {
		for range *pairs / 10 {
			a, b, c := values[r.IntN(len(values))], values[r.IntN(len(values))], values[r.IntN(len(values))]
			if typ.Compare(a, b) <= 0 && typ.Compare(b, c) <= 0 && typ.Compare(a, c) > 0 {
				t.Fatalf("%x is not after %x, which is not after %x, but it is after that", a, b, c)
			}
		}
	})
}

// A key decodes to the value, or to an equal one where that is all a key can tell.
func TestPropertyKeyRoundTrip(t *testing.T) {
	forSamples(t, func(t *testing.T, _ *rand.Rand, typ recordedType, values [][]byte) {
		for _, v := range values {
			checkKey(t, typ.Type, v)
		}
	})
}

// The text of a value, read as a literal, is the value again, and prints as the same text.
func TestPropertyTextRoundTrip(t *testing.T) {
	forSamples(t, func(t *testing.T, _ *rand.Rand, typ recordedType, values [][]byte) {
		if _, ok := nativeByName[typ.Type.String()]; !ok {
			t.Skip("the literals of collections are made of terms")
		}
		for _, v := range values {
			if len(v) == 0 && EmptyIsNull(typ.Type) || unreadable(typ.Type, v) {
				continue
			}
			text := typ.Format(v)
			literal := text
			if strings.HasPrefix(text, "'") {
				literal = strings.ReplaceAll(text[1:len(text)-1], "''", "'")
			}
			back, err := typ.ParseLiteral(kindOf(typ.Type), literal)
			if err != nil || !sameValue(typ.Type, back, v) || typ.Format(back) != text {
				t.Errorf("%x prints %s, which is read as %x, %v", v, text, back, err)
			}
		}
	})
}

// sameValue reports whether two values are equal. Durations are if their parts are: bytes behind them mean nothing.
func sameValue(t Type, a, b []byte) bool {
	if t == Duration {
		a, b = EncodeDuration(DecodeDuration(a)), EncodeDuration(DecodeDuration(b))
	}
	return t.Compare(a, b) == 0
}

// unreadable are values whose texts are no literals of them: IPv4 in IPv6, times outside the day or the years that
// literals may have, the empty duration and those with the least numbers, and a decimal beyond the greatest exponent.
func unreadable(t Type, v []byte) bool {
	switch t {
	case Inet:
		return len(v) == 16 && DecodeInet(v).Is4In6()
	case Time:
		return uint64(DecodeBigInt(v)) >= nanoPerDay
	case Timestamp:
		year := time.UnixMilli(DecodeBigInt(v)).UTC().Year()
		return year < 1 || year > 9999
	case Duration:
		months, days, nanos := DecodeDuration(v)
		least := months < -durationLimits[inMonths] || days < -durationLimits[inDays] || nanos < -durationLimits[inNanos]
		return least || months == 0 && days == 0 && nanos == 0
	case Decimal:
		unscaled, scale := DecodeDecimal(v)
		return len(unscaled.Text(10))-int(scale) > 1<<31-1
	}
	return false
}
