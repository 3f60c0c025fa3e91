package shell

import (
	"testing"

	"github.com/cqld/cqld/cql/types"
)

// TestCell has the output of cqlsh 6.2.2 for these values.
func TestCell(t *testing.T) {
	for _, c := range []struct {
		typ     types.Type
		kind    types.LiteralKind
		literal string
		want    string
	}{
		{types.Double, types.FloatLiteral, "1e30", "1e+30"},
		{types.Double, types.FloatLiteral, "100000", "1e+05"},
		{types.Double, types.FloatLiteral, "1.1", "1.1"},
		{types.Float, types.FloatLiteral, "3.14159274", "3.14159"},
		{types.Float, types.FloatLiteral, "123456.789", "1.2346e+05"},
		{types.Float, types.FloatLiteral, "1e-10", "1e-10"},
		{types.Boolean, types.BooleanLiteral, "true", "True"},
		{types.Text, types.StringLiteral, "he'llo\nwörld", `he'llo\nwörld`},
		{types.Inet, types.StringLiteral, "::1", "::1"},
		{types.Date, types.StringLiteral, "2024-02-29", "2024-02-29"},
		{types.Timestamp, types.StringLiteral, "1969-12-31 23:59:59Z", "1969-12-31 23:59:59.000000+0000"},
		{types.Blob, types.HexLiteral, "0xCAFE", "0xcafe"},
	} {
		b, err := c.typ.ParseLiteral(c.kind, c.literal)
		if err != nil {
			t.Errorf("%s %s: %v", c.typ, c.literal, err)
			continue
		}
		if got := plainStyle.cell(c.typ, b); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.typ, c.literal, got, c.want)
		}
	}
}

// TestCut cuts texts to a number of columns.
func TestCut(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"北京市", 6, "北京市"},
		{"北京市", 5, "北京…"},
		{"北京市", 4, "北…"},
		{red + "longer" + resetColor, 6, red + "longer" + resetColor},
		{red + "longer" + resetColor + "!", 3, red + "lo…" + resetColor},
		{red + "long" + resetColor + "er", 5, red + "long" + resetColor + "…"},
	} {
		if got := cut(test.text, test.width); got != test.want {
			t.Errorf("%q is cut to %q, want %q", test.text, got, test.want)
		}
	}
}
