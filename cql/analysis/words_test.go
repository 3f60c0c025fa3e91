package analysis

import (
	"slices"
	"strings"
	"testing"
)

// The words are those that Cassandra 5.0.8's tokenizer found.
func TestWords(t *testing.T) {
	long := strings.Repeat("x", 255)
	for text, want := range map[string][]string{
		"":                                    nil,
		"! ? .":                               nil,
		"can't stop, 1,000.5 3.14e10":         {"can't", "stop", "1,000.5", "3.14e10"},
		"snake_case _x_ __ 12_34":             {"snake_case", "_x_", "12_34"},
		"a:b a.b a-b a\u00adb x\u200by":       {"a:b", "a.b", "a", "b", "a\u00adb", "x", "y"},
		"a'b' 1'2 כ' צה\"ל ב\"":               {"a'b", "1'2", "כ'", "צה\"ל", "ב"},
		"السَّلام ١٢٫٥":                       {"السَّلام", "١٢٫٥"},
		"漢字々かなカタカナ々a":                         {"漢", "字", "々", "か", "な", "カタカナ", "々a"},
		"한국어 ｶﾀｶﾅ":                            {"한국어", "ｶﾀｶﾅ"},
		"ภาษาไทย ລາວ":                         {"ภาษาไทย", "ລາວ"},
		"👩\u200d👩 🇩🇪 𝒜𐐷 𠀀":                    {"𝒜𐐷", "𠀀"},
		"\u109e \u19b0a \u1885 \u1a7f 🄰":      {"\u109e", "\u19b0", "a", "\u1885"},
		long + " " + long + "x":               {long},
		strings.Repeat("𐐷", 128) + " " + "ok": {"ok"},
	} {
		var got []string
		words(text, func(word string) { got = append(got, word) })
		if !slices.Equal(got, want) {
			t.Errorf("%+q has the words %+q, want %+q", text, got, want)
		}
	}
}
