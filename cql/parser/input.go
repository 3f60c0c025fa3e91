package parser

import "github.com/antlr4-go/antlr/v4"

// input is a text as the lexer reads it: byte by byte, so that positions are byte offsets and no rune is
// decoded. Only the inside of strings, names and comments may be outside ASCII.
type input struct {
	text string
	pos  int
}

// Consume goes on to the next byte.
func (in *input) Consume() { in.pos++ }

// symbols is what the lexer sees of each byte. It remembers decisions for ASCII only, so the other bytes become
// one symbol that no token begins with, DEL; but those of the sign µ in durations, C2 and B5, become 1 and 2.
var symbols = func() (s [256]byte) {
	for b := range s {
		s[b] = byte(b)
		if b >= 0x80 || b == 1 || b == 2 {
			s[b] = 0x7F
		}
	}
	s[0xC2], s[0xB5] = 1, 2
	return s
}()

// LA returns the symbol k places ahead, the next being at 1, or antlr.TokenEOF.
func (in *input) LA(k int) int {
	if k < 0 {
		k++
	}
	if i := in.pos + k - 1; i >= 0 && i < len(in.text) {
		return int(symbols[in.text[i]])
	}
	return antlr.TokenEOF
}

// Mark and Release have nothing to do: the whole text is kept.
func (in *input) Mark() int { return -1 }

// Release is the other half of Mark.
func (in *input) Release(int) {}

// Index is the byte offset of the next symbol.
func (in *input) Index() int { return in.pos }

// Seek goes to a byte offset, backwards too.
func (in *input) Seek(i int) { in.pos = i }

// Size is the number of bytes.
func (in *input) Size() int { return len(in.text) }

// GetSourceName is the name that the runtime would print in messages of its own.
func (in *input) GetSourceName() string { return "statement" }

// GetText returns the text between two offsets, both inclusive.
func (in *input) GetText(start, stop int) string {
	stop = min(stop, len(in.text)-1)
	if start > stop {
		return ""
	}
	return in.text[start : stop+1]
}

// GetTextFromTokens returns the text from the first byte of one token to the last of another.
func (in *input) GetTextFromTokens(start, end antlr.Token) string {
	return in.GetText(start.GetStart(), end.GetStop())
}

// GetTextFromInterval is GetText for an interval of offsets.
func (in *input) GetTextFromInterval(i antlr.Interval) string { return in.GetText(i.Start, i.Stop) }
