// Package analysis makes the terms that analyzing indexes store and compare instead of text.
//
// Storage-attached indexes have one term per value (ForSAI). SSTable-attached indexes have one, or more if their
// analyzer splits text (ForSASI). words.go splits text into words and stems.go finds their stems; the case functions
// and ascii_folds.go convert characters as Java does.
package analysis

import (
	"bytes"
	"net/netip"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// MaxSASITerm is the size in bytes from which SSTable-attached indexes skip a term.
const MaxSASITerm = 1024

// ForSAI returns the function that makes the term of a value in a storage-attached index; nil: values are stored
// unchanged.
func ForSAI(x *schema.Index, of types.Type) func([]byte) []byte {
	switch of {
	case types.Text, types.ASCII:
		return forText(x.Options)
	case types.Inet:
		return ipv6
	}
	return nil
}

// forText is ForSAI for text. It applies the conversions in Cassandra's order.
func forText(options map[string]string) func([]byte) []byte {
	on := func(name string) bool { return strings.EqualFold(options[name], "true") }
	lower := strings.EqualFold(options["case_sensitive"], "false")
	normalize, ascii := on("normalize"), on("ascii")
	if !lower && !normalize && !ascii {
		return nil
	}
	return func(value []byte) []byte {
		text := string(value)
		if lower {
			text = javaLower(text)
		}
		if normalize {
			text = norm.NFC.String(text)
		}
		if ascii {
			text = asciiFold(text)
		}
		return []byte(text)
	}
}

// ipv6 converts an address to 16 bytes.
func ipv6(b []byte) []byte {
	if a, ok := netip.AddrFromSlice(b); ok {
		long := a.As16()
		return long[:]
	}
	return b
}

// ForSASI returns the terms of a value in an SSTable-attached index on text. Empty values have none.
func ForSASI(m schema.SASIMode, value []byte) [][]byte {
	if len(value) == 0 {
		return nil
	}
	switch m.Analyzer {
	case schema.DelimiterAnalyzer:
		delimiter, ok := m.Options["delimiter"]
		if !ok {
			delimiter = ","
		}
		var terms [][]byte
		for _, term := range bytes.Split(value, []byte(delimiter)) {
			if len(term) > 0 {
				terms = append(terms, term)
			}
		}
		return terms
	case schema.NonTokenizingAnalyzer:
		return [][]byte{nonTokenizing(m, value)}
	case schema.StandardAnalyzer:
		var terms [][]byte
		words(string(value), func(word string) { terms = append(terms, standard(m, word)) })
		return terms
	}
	return [][]byte{value}
}

// standard is the term of the StandardAnalyzer for a word.
func standard(m schema.SASIMode, word string) []byte {
	switch {
	case strings.EqualFold(m.Options["tokenization_normalize_lowercase"], "true"):
		word = javaLower(word)
	case strings.EqualFold(m.Options["tokenization_normalize_uppercase"], "true"):
		word = javaUpper(word)
	}
	if m.Stems() {
		word = stem(m.Language(), word)
	}
	return norm.NFC.Bytes([]byte(word))
}

// nonTokenizing is the term of the NonTokenizingAnalyzer for a value.
func nonTokenizing(m schema.SASIMode, value []byte) []byte {
	on := func(name string) bool { return strings.EqualFold(m.Options[name], "true") }
	text := string(value)
	sensitive, given := m.Options["case_sensitive"]
	switch {
	case given && !strings.EqualFold(sensitive, "true"), on("normalize_lowercase"):
		text = javaLower(text)
	case on("normalize_uppercase"):
		text = javaUpper(text)
	}
	return norm.NFC.Bytes([]byte(text))
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
		if upper, ok := longUpper[r]; ok {
			b.WriteString(upper)
		} else {
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// endsWord reports whether the character at an index is the last letter of a word of two or more letters.
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

// longUpper has the letters whose upper case has more than one character.
var longUpper = map[rune]string{
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
