package exec

import (
	"strings"
	"unicode"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// newAnalyzer is what a storage-attached index of text does to values before it compares them, nil if it is nothing.
func newAnalyzer(options map[string]string) func([]byte) ([]byte, error) {
	on := func(name string) bool { return strings.EqualFold(options[name], "true") }
	lower := strings.EqualFold(options["case_sensitive"], "false")
	normalize, ascii := on("normalize"), on("ascii")
	if !lower && !normalize && !ascii {
		return nil
	}
	return func(value []byte) ([]byte, error) {
		text := string(value)
		if lower {
			text = javaLower(text)
		}
		if normalize {
			if err := checkNormal(text); err != nil {
				return nil, err
			}
		}
		if ascii {
			text = asciiFold(text)
		}
		return []byte(text), nil
	}
}

// foldSASI is what the NonTokenizingAnalyzer does to a value.
func foldSASI(m schema.SASIMode, value []byte) ([]byte, error) {
	on := func(name string) bool { return strings.EqualFold(m.Options[name], "true") }
	text := string(value)
	sensitive, told := m.Options["case_sensitive"]
	switch {
	case told && !strings.EqualFold(sensitive, "true"), on("normalize_lowercase"):
		text = javaLower(text)
	case on("normalize_uppercase"):
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(severalUpper, r) }) {
			return nil, cqlerr.Invalidf("Letters that have several capital ones are not supported by cqld yet in an index with " +
				"normalize_uppercase")
		}
		text = strings.ToUpper(text)
	}
	return []byte(text), checkNormal(text)
}

// checkNormal refuses text that may be composed in another way than Unicode's form C has it: it would have to be
// normalized, and there are no tables for that.
func checkNormal(text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Mc, composing) }) {
		return cqlerr.Invalidf("Text with combining characters is not supported by cqld yet in an index that normalizes it")
	}
	return nil
}

// asciiFold writes characters that are like some of ASCII with these.
func asciiFold(text string) string {
	var b strings.Builder
	for _, r := range text {
		if ascii, ok := asciiFolds[r]; ok {
			b.WriteString(ascii)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// javaLower is Java's String.toLowerCase: a dotted I keeps its dot, and a sigma that ends a word is a final one.
func javaLower(text string) string {
	if !strings.ContainsAny(text, "İΣ") {
		return strings.ToLower(text)
	}
	runes := []rune(text)
	var b strings.Builder
	for i, r := range runes {
		switch {
		case r == 'İ':
			b.WriteString("i̇")
		case r == 'Σ' && endsWord(runes, i):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// endsWord reports whether letters come in front of a place in a text, and none behind it.
func endsWord(text []rune, at int) bool {
	before := false
	for i := at - 1; i >= 0 && !before && inWord(text[i]); i-- {
		before = isCased(text[i])
	}
	for i := at + 1; i < len(text) && inWord(text[i]); i++ {
		if isCased(text[i]) {
			return false
		}
	}
	return before
}

func inWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd) || r == '\'' || r == '’' || r == '.' || r == '_'
}

func isCased(r rune) bool { return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt) }

// composing are the characters that form C of Unicode replaces or may put together with others, beside marks.
var composing = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x374, 0x374, 1},
		{0x37e, 0x37e, 1},
		{0x387, 0x387, 1},
		{0x958, 0x95f, 1},
		{0x9dc, 0x9dd, 1},
		{0x9df, 0x9df, 1},
		{0xa33, 0xa33, 1},
		{0xa36, 0xa36, 1},
		{0xa59, 0xa5b, 1},
		{0xa5e, 0xa5e, 1},
		{0xb5c, 0xb5d, 1},
		{0xf43, 0xf43, 1},
		{0xf4d, 0xf4d, 1},
		{0xf52, 0xf52, 1},
		{0xf57, 0xf57, 1},
		{0xf5c, 0xf5c, 1},
		{0xf69, 0xf69, 1},
		{0x1161, 0x1175, 1},
		{0x11a8, 0x11c2, 1},
		{0x1f71, 0x1f71, 1},
		{0x1f73, 0x1f73, 1},
		{0x1f75, 0x1f75, 1},
		{0x1f77, 0x1f77, 1},
		{0x1f79, 0x1f79, 1},
		{0x1f7b, 0x1f7b, 1},
		{0x1f7d, 0x1f7d, 1},
		{0x1fbb, 0x1fbb, 1},
		{0x1fbe, 0x1fbe, 1},
		{0x1fc9, 0x1fc9, 1},
		{0x1fcb, 0x1fcb, 1},
		{0x1fd3, 0x1fd3, 1},
		{0x1fdb, 0x1fdb, 1},
		{0x1fe3, 0x1fe3, 1},
		{0x1feb, 0x1feb, 1},
		{0x1fee, 0x1fef, 1},
		{0x1ff9, 0x1ff9, 1},
		{0x1ffb, 0x1ffb, 1},
		{0x1ffd, 0x1ffd, 1},
		{0x2000, 0x2001, 1},
		{0x2126, 0x2126, 1},
		{0x212a, 0x212b, 1},
		{0x2329, 0x232a, 1},
		{0x2adc, 0x2adc, 1},
		{0xf900, 0xfa0d, 1},
		{0xfa10, 0xfa10, 1},
		{0xfa12, 0xfa12, 1},
		{0xfa15, 0xfa1e, 1},
		{0xfa20, 0xfa20, 1},
		{0xfa22, 0xfa22, 1},
		{0xfa25, 0xfa26, 1},
		{0xfa2a, 0xfa6d, 1},
		{0xfa70, 0xfad9, 1},
		{0xfb1d, 0xfb1d, 1},
		{0xfb1f, 0xfb1f, 1},
		{0xfb2a, 0xfb36, 1},
		{0xfb38, 0xfb3c, 1},
		{0xfb3e, 0xfb3e, 1},
		{0xfb40, 0xfb41, 1},
		{0xfb43, 0xfb44, 1},
		{0xfb46, 0xfb4e, 1},
	},
	R32: []unicode.Range32{
		{0x1d15e, 0x1d164, 1}, {0x1d1bb, 0x1d1c0, 1}, {0x2f800, 0x2fa1d, 1},
	},
}

// severalUpper are the letters whose capital form is several characters.
var severalUpper = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xdf, 0xdf, 1},
		{0x149, 0x149, 1},
		{0x1f0, 0x1f0, 1},
		{0x390, 0x390, 1},
		{0x3b0, 0x3b0, 1},
		{0x587, 0x587, 1},
		{0x1e96, 0x1e9a, 1},
		{0x1f50, 0x1f50, 1},
		{0x1f52, 0x1f52, 1},
		{0x1f54, 0x1f54, 1},
		{0x1f56, 0x1f56, 1},
		{0x1f80, 0x1faf, 1},
		{0x1fb2, 0x1fb4, 1},
		{0x1fb6, 0x1fb7, 1},
		{0x1fbc, 0x1fbc, 1},
		{0x1fc2, 0x1fc4, 1},
		{0x1fc6, 0x1fc7, 1},
		{0x1fcc, 0x1fcc, 1},
		{0x1fd2, 0x1fd3, 1},
		{0x1fd6, 0x1fd7, 1},
		{0x1fe2, 0x1fe4, 1},
		{0x1fe6, 0x1fe7, 1},
		{0x1ff2, 0x1ff4, 1},
		{0x1ff6, 0x1ff7, 1},
		{0x1ffc, 0x1ffc, 1},
		{0xfb00, 0xfb06, 1},
		{0xfb13, 0xfb17, 1},
	},
}
