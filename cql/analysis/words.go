package analysis

import (
	"regexp"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// The StandardAnalyzer splits words by Unicode Standard Annex #29 for Unicode 6.3, except that a run of South East
// Asian characters is one word, each Han or Hiragana character is a word, and only letters, digits and Katakana are
// kept.

// The classes of characters. Each is a byte, so that rules are regular expressions of classes.
const (
	otherClass     = '-' // ends a word, and is in none
	letterClass    = 'a'
	hebrewClass    = 'h'
	digitClass     = '1'
	katakanaClass  = 'k'
	joinerClass    = '_' // the underscore and the like
	midLetterClass = ':' // inside of words
	midNumberClass = ',' // inside of numbers
	midBothClass   = '.'
	singleClass    = 's' // '
	doubleClass    = 'd' // "
	extendClass    = 'e' // belongs to the character before it
	asianClass     = 't' // South East Asian
	asianMarkClass = 'm' // South East Asian, and belongs to the character before it
	hanClass       = 'c'
	hiraganaClass  = 'g'
	regionalClass  = 'r'
)

// maxWord is the length in UTF-16 units of the longest word that is kept.
const maxWord = 255

// wordRule matches the classes of one word, or of adjacent characters between words. The first group matches a word.
// All matches are the longest.
var wordRule = func() *regexp.Regexp {
	const (
		ex       = `[em]*`
		joiner   = `(?:_` + ex + `)`
		digits   = `(?:1` + ex + `(?:(?:` + joiner + `*|[,.s]` + ex + `)1` + ex + `)*)`
		letters  = `(?:[ah]` + ex + `(?:(?:` + joiner + `*|[:.s]` + ex + `)[ah]` + ex + `)*)`
		hebrew   = `(?:h` + ex + `(?:s` + ex + `|d` + ex + `h` + ex + `))`
		katakana = `(?:k` + ex + `(?:` + joiner + `*k` + ex + `)*)`
		run      = `(?:` + katakana + `|(?:` + hebrew + `|` + digits + `|` + letters + `)+)`
		word     = joiner + `*` + run + `(?:` + joiner + `+` + run + `)*` + joiner + `*`
	)
	rule := regexp.MustCompile(`^(?:(` + word + `|[tm]+|[cg]` + ex + `)|(?:r` + ex + `){2,}|.)`)
	rule.Longest()
	return rule
}()

// words calls fn with each word of a text.
func words(text string, fn func(word string)) {
	classes := make([]byte, 0, len(text))
	for _, r := range text {
		classes = append(classes, classOf(r))
	}
	for len(classes) > 0 {
		match := wordRule.FindSubmatchIndex(classes)
		bytes, units := 0, 0
		for range match[1] {
			r, n := utf8.DecodeRuneInString(text[bytes:])
			bytes += n
			units += utf16.RuneLen(r)
		}
		if match[2] >= 0 && units <= maxWord {
			fn(text[:bytes])
		}
		classes, text = classes[match[1]:], text[bytes:]
	}
}

// asciiClasses has the classes of the characters below 128.
var asciiClasses = func() (classes [utf8.RuneSelf]byte) {
	for r := range classes {
		classes[r] = otherClass
		switch {
		case unicode.IsLetter(rune(r)):
			classes[r] = letterClass
		case unicode.IsDigit(rune(r)):
			classes[r] = digitClass
		}
	}
	for r, class := range map[rune]byte{
		'_': joinerClass, ':': midLetterClass, ',': midNumberClass, ';': midNumberClass, '.': midBothClass,
		'\'': singleClass, '"': doubleClass,
	} {
		classes[r] = class
	}
	return classes
}()

// runeClasses has the classes of characters that are not derived from Go's tables.
var runeClasses = func() map[rune]byte {
	classes := map[rune]byte{}
	for class, runes := range map[byte]string{
		midLetterClass: "\u00b7\u02d7\u0387\u05f4\u2027\ufe13\ufe55\uff1a",
		midNumberClass: "\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b",
		midBothClass:   "\u2018\u2019\u2024\ufe52\uff07\uff0e",
		katakanaClass:  "\u3031\u3032\u3033\u3034\u3035\u309b\u309c\u30a0\u30fc\uff70",
		digitClass:     "\u066b",
		letterClass:    "\u05f3\u1885\u1886\u3005\u303b",
		extendClass:    "\u1a7f\u1cf2\u1cf3\u200c\u200d",
		asianClass: "\u109e\u109f\u19da\u19de\u19df\u1aa0\u1aa1\u1aa2\u1aa3\u1aa4\u1aa5\u1aa6\u1aa8\u1aa9\u1aaa" +
			"\u1aab\u1aac\u1aad\uaa77\uaa78\uaa79\uaade\uaadf",
		asianMarkClass: "\u19b0\u19b1\u19b2\u19b3\u19b4\u19b5\u19b6\u19b7\u19b8\u19b9\u19ba\u19bb\u19bc\u19bd" +
			"\u19be\u19bf\u19c0\u19c8\u19c9",
		otherClass: "\u200b",
	} {
		for _, r := range runes {
			classes[r] = class
		}
	}
	return classes
}()

// Character properties of Unicode 6.3.
var (
	assigned   = rangetable.Assigned("6.3.0")
	extending  = []*unicode.RangeTable{unicode.M, unicode.Other_Grapheme_Extend, unicode.Cf}
	alphabetic = []*unicode.RangeTable{unicode.L, unicode.Nl, unicode.Other_Alphabetic}
	asian      = []*unicode.RangeTable{
		unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer, unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham,
		unicode.Tai_Viet,
	}
)

// classOf is the class of a character.
func classOf(r rune) byte {
	if r < utf8.RuneSelf {
		return asciiClasses[r]
	}
	if class, ok := runeClasses[r]; ok {
		return class
	}
	switch {
	case !unicode.Is(assigned, r):
		return otherClass
	case unicode.In(r, asian...) && unicode.In(r, unicode.L, unicode.M):
		if unicode.Is(unicode.M, r) {
			return asianMarkClass
		}
		return asianClass
	case unicode.In(r, extending...):
		return extendClass
	case unicode.Is(unicode.Nd, r):
		return digitClass
	case unicode.Is(unicode.Pc, r):
		return joinerClass
	case unicode.Is(unicode.Han, r):
		return hanClass
	case unicode.Is(unicode.Hiragana, r):
		return hiraganaClass
	case unicode.Is(unicode.Katakana, r):
		return katakanaClass
	case unicode.Is(unicode.Regional_Indicator, r):
		return regionalClass
	case r >= 0x1f130 && r <= 0x1f189: // letters in squares and circles
		return otherClass
	case !unicode.In(r, alphabetic...) || unicode.Is(unicode.Ideographic, r):
		return otherClass
	case unicode.Is(unicode.Hebrew, r):
		return hebrewClass
	}
	return letterClass
}
