package filter

import (
	"strings"
	"unicode"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// newAnalyzer returns the function that a storage-attached index applies to text before it compares; nil: none.
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

// foldSASI is what the NonTokenizingAnalyzer of SSTable-attached indexes does to a value.
func foldSASI(m schema.SASIMode, value []byte) ([]byte, error) {
	on := func(name string) bool { return strings.EqualFold(m.Options[name], "true") }
	text := string(value)
	sensitive, told := m.Options["case_sensitive"]
	switch {
	case told && !strings.EqualFold(sensitive, "true"), on("normalize_lowercase"):
		text = javaLower(text)
	case on("normalize_uppercase"):
		text = javaUpper(text)
	}
	return []byte(text), checkNormal(text)
}

// checkNormal refuses text that may not be in Unicode's form C: it would have to be normalized, and cqld has no tables
// for that.
func checkNormal(text string) error {
	composed := func(r rune) bool { return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Mc, composing) }
	if strings.ContainsFunc(text, composed) {
		return cqlerr.Invalidf("Text with combining characters is not supported by cqld yet in an index that normalizes it")
	}
	return nil
}

// asciiFold replaces characters by similar ASCII characters.
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

// javaLower is Java's String.toLowerCase: a dotted I keeps its dot, and a sigma at the end of a word becomes a final
// sigma.
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

// javaUpper is Java's String.toUpperCase.
func javaUpper(text string) string {
	var b strings.Builder
	for _, r := range text {
		if upper, ok := severalUpper[r]; ok {
			b.WriteString(upper)
		} else {
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// endsWord reports whether the character at a place is the last letter of a word of several letters.
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

// composing has the characters, besides marks, that Unicode's form C replaces or may join with others.
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

// severalUpper has the letters whose capital form is several characters.
var severalUpper = map[rune]string{
	'\u00df': "SS", '\u0149': "\u02bcN", '\u01f0': "J\u030c", '\u0390': "\u0399\u0308\u0301",
	'\u03b0': "\u03a5\u0308\u0301", '\u0587': "\u0535\u0552", '\u1e96': "H\u0331", '\u1e97': "T\u0308",
	'\u1e98': "W\u030a", '\u1e99': "Y\u030a", '\u1e9a': "A\u02be", '\u1f50': "\u03a5\u0313",
	'\u1f52': "\u03a5\u0313\u0300", '\u1f54': "\u03a5\u0313\u0301", '\u1f56': "\u03a5\u0313\u0342",
	'\u1f80': "\u1f08\u0399", '\u1f81': "\u1f09\u0399", '\u1f82': "\u1f0a\u0399", '\u1f83': "\u1f0b\u0399",
	'\u1f84': "\u1f0c\u0399", '\u1f85': "\u1f0d\u0399", '\u1f86': "\u1f0e\u0399", '\u1f87': "\u1f0f\u0399",
	'\u1f88': "\u1f08\u0399", '\u1f89': "\u1f09\u0399", '\u1f8a': "\u1f0a\u0399", '\u1f8b': "\u1f0b\u0399",
	'\u1f8c': "\u1f0c\u0399", '\u1f8d': "\u1f0d\u0399", '\u1f8e': "\u1f0e\u0399", '\u1f8f': "\u1f0f\u0399",
	'\u1f90': "\u1f28\u0399", '\u1f91': "\u1f29\u0399", '\u1f92': "\u1f2a\u0399", '\u1f93': "\u1f2b\u0399",
	'\u1f94': "\u1f2c\u0399", '\u1f95': "\u1f2d\u0399", '\u1f96': "\u1f2e\u0399", '\u1f97': "\u1f2f\u0399",
	'\u1f98': "\u1f28\u0399", '\u1f99': "\u1f29\u0399", '\u1f9a': "\u1f2a\u0399", '\u1f9b': "\u1f2b\u0399",
	'\u1f9c': "\u1f2c\u0399", '\u1f9d': "\u1f2d\u0399", '\u1f9e': "\u1f2e\u0399", '\u1f9f': "\u1f2f\u0399",
	'\u1fa0': "\u1f68\u0399", '\u1fa1': "\u1f69\u0399", '\u1fa2': "\u1f6a\u0399", '\u1fa3': "\u1f6b\u0399",
	'\u1fa4': "\u1f6c\u0399", '\u1fa5': "\u1f6d\u0399", '\u1fa6': "\u1f6e\u0399", '\u1fa7': "\u1f6f\u0399",
	'\u1fa8': "\u1f68\u0399", '\u1fa9': "\u1f69\u0399", '\u1faa': "\u1f6a\u0399", '\u1fab': "\u1f6b\u0399",
	'\u1fac': "\u1f6c\u0399", '\u1fad': "\u1f6d\u0399", '\u1fae': "\u1f6e\u0399", '\u1faf': "\u1f6f\u0399",
	'\u1fb2': "\u1fba\u0399", '\u1fb3': "\u0391\u0399", '\u1fb4': "\u0386\u0399", '\u1fb6': "\u0391\u0342",
	'\u1fb7': "\u0391\u0342\u0399", '\u1fbc': "\u0391\u0399", '\u1fc2': "\u1fca\u0399", '\u1fc3': "\u0397\u0399",
	'\u1fc4': "\u0389\u0399", '\u1fc6': "\u0397\u0342", '\u1fc7': "\u0397\u0342\u0399", '\u1fcc': "\u0397\u0399",
	'\u1fd2': "\u0399\u0308\u0300", '\u1fd3': "\u0399\u0308\u0301", '\u1fd6': "\u0399\u0342",
	'\u1fd7': "\u0399\u0308\u0342", '\u1fe2': "\u03a5\u0308\u0300", '\u1fe3': "\u03a5\u0308\u0301",
	'\u1fe4': "\u03a1\u0313", '\u1fe6': "\u03a5\u0342", '\u1fe7': "\u03a5\u0308\u0342", '\u1ff2': "\u1ffa\u0399",
	'\u1ff3': "\u03a9\u0399", '\u1ff4': "\u038f\u0399", '\u1ff6': "\u03a9\u0342", '\u1ff7': "\u03a9\u0342\u0399",
	'\u1ffc': "\u03a9\u0399", '\ufb00': "FF", '\ufb01': "FI", '\ufb02': "FL", '\ufb03': "FFI", '\ufb04': "FFL",
	'\ufb05': "ST", '\ufb06': "ST", '\ufb13': "\u0544\u0546", '\ufb14': "\u0544\u0535", '\ufb15': "\u0544\u053b",
	'\ufb16': "\u054e\u0546", '\ufb17': "\u0544\u053d",
}
