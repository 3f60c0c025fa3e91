package types

// validJavaUTF8 reports whether b is what Cassandra takes for UTF-8: beside valid UTF-8 also surrogates,
// characters past the last of Unicode, and a few sequences that its check of the second byte lets through.
func validJavaUTF8(b []byte) bool {
	for len(b) > 0 {
		n := javaRuneLen(b)
		if n == 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// javaRuneLen is the length of the character at the beginning of b, or 0 if there is none.
func javaRuneLen(b []byte) int {
	c := b[0]
	n := 0
	switch {
	case c < 0x80:
		return 1
	case c == 0xC0, c >= 0xC2 && c < 0xE0:
		n = 2
	case c >= 0xE0 && c < 0xF0:
		n = 3
	case c >= 0xF0 && c < 0xF8:
		n = 4
	}
	if n == 0 || len(b) < n || !javaSecondByte(c, b[1]) {
		return 0
	}
	for _, c := range b[2:n] {
		if c&0xC0 != 0x80 {
			return 0
		}
	}
	return n
}

// javaSecondByte reports whether c may follow first. C0 80 is Java's zero. After E0 and F0, which begin longer forms
// than some characters need, only a few bits are looked at.
func javaSecondByte(first, c byte) bool {
	switch first {
	case 0xC0:
		return c == 0x80
	case 0xE0:
		return c&0xE0 != 0x80
	case 0xF0:
		return c&0x30 != 0
	}
	return c&0xC0 == 0x80
}
