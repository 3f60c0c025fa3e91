package diagram

import (
	"strings"
	"unicode"
)

// TextWidth is the number of terminal columns that a text takes. Sequences that set colours take none.
func TextWidth(s string) int {
	n, color := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			color = true
		case color:
			color = r != 'm'
		default:
			n += runeWidth(r)
		}
	}
	return n
}

// runeWidth is the number of terminal columns of a character.
func runeWidth(r rune) int {
	if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) || unicode.Is(unicode.Cf, r) {
		return 0
	}
	for _, w := range wideRanges {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

// wideRanges are the characters that take two columns: Hangul, CJK, kana, full-width forms and emoji.
var wideRanges = [][2]rune{
	{0x1100, 0x115f},
	{0x2e80, 0x303e},
	{0x3041, 0x33ff},
	{0x3400, 0x4dbf},
	{0x4e00, 0x9fff},
	{0xa000, 0xa4cf},
	{0xa960, 0xa97f},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x1f300, 0x1f64f},
	{0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd},
}

// textPixels is the width of a text in a proportional font of a size. It assumes a wide font, so that the text fits in
// most others too.
func textPixels(s string, size int) int {
	hundreds := 0
	for _, r := range s {
		hundreds += hundredths(r)
	}
	return (hundreds*size + 99) / 100
}

// hundredths is the width of a character in hundredths of the size of the font.
func hundredths(r rune) int {
	switch w := runeWidth(r); {
	case w == 0:
		return 0
	case w == 2:
		return 110
	case strings.ContainsRune("il.,:;'|!jI ", r):
		return 36
	case strings.ContainsRune("rtf()[]\"/-", r):
		return 46
	case r >= 'a' && r <= 'z' && r != 'm' && r != 'w', r >= '0' && r <= '9', r == '_':
		return 64
	case strings.ContainsRune("mwMW@%", r) || r > 0x7f:
		return 102
	}
	return 84
}

// cut shortens a text to a number of pixels.
func cut(s string, limit, size int) string {
	if textPixels(s, size) <= limit {
		return s
	}
	limit -= textPixels("…", size)
	end, used := 0, 0
	for i, r := range s {
		used += hundredths(r)
		if (used*size+99)/100 > limit {
			break
		}
		end = i + len(string(r))
	}
	return s[:end] + "…"
}

// cutColumns shortens a text to a number of terminal columns.
func cutColumns(s string, limit int) string {
	if TextWidth(s) <= limit {
		return s
	}
	end, used := 0, 0
	for i, r := range s {
		if used += runeWidth(r); used > limit-1 {
			break
		}
		end = i + len(string(r))
	}
	return s[:end] + "…"
}

// clean replaces characters that would disturb the drawing: controls, line breaks, and those that change the direction
// of text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xfffe && r <= 0xffff {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
