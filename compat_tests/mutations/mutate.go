package main

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/protocol"
)

// mutator changes texts and bytes.
type mutator struct {
	*rand.Rand
	texts []string
	other []byte // the bytes of another request
}

// often is true in n percent of the calls.
func (m *mutator) often(n int) bool { return m.IntN(100) < n }

// text is a statement, mostly with some words exchanged, left out or repeated.
func (m *mutator) text(keyspace string) string {
	words := strings.Fields(m.pick())
	for range m.IntN(4) {
		if len(words) == 0 {
			break
		}
		at := m.IntN(len(words))
		switch m.IntN(5) {
		case 0:
			words = append(words[:at], words[at+1:]...)
		case 1:
			words[at] += " " + words[m.IntN(len(words))]
		case 2:
			others := strings.Fields(m.pick())
			words[at] = others[m.IntN(len(others))]
		case 3:
			words[at] = string(m.bytes([]byte(words[at])))
		case 4:
			words[at] = "?"
		}
	}
	return strings.ReplaceAll(strings.Join(words, " "), "{ks}", keyspace)
}

func (m *mutator) pick() string { return m.texts[m.IntN(len(m.texts))] }

// value is the bytes of a bound value: mostly of a length that some type has.
func (m *mutator) value() []byte {
	lengths := []int{0, 1, 2, 4, 4, 8, 8, 12, 16, 20, m.IntN(100), m.IntN(5000)}
	b := make([]byte, lengths[m.IntN(len(lengths))])
	switch m.IntN(3) {
	case 0:
		for i := range b {
			b[i] = byte(m.Uint32())
		}
	case 1: // like a collection: a small count in front
		if len(b) >= 4 {
			binary.BigEndian.PutUint32(b, uint32(m.IntN(4)))
		}
	}
	return b
}

// numbers are the replacements of lengths and counts.
var numbers = []uint32{0, 1, 2, 0x7f, 0xff, 0x7fff, 0x8000, 0xffff, 0x00ffffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff}

// bytes changes bytes in one to three places.
func (m *mutator) bytes(b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + m.IntN(3) {
		if len(b) == 0 {
			return m.value()
		}
		at := m.IntN(len(b))
		n := 1 + m.IntN(min(16, len(b)-at))
		switch m.IntN(8) {
		case 0:
			b[at] ^= 1 << m.IntN(8)
		case 1:
			b[at] = byte(m.Uint32())
		case 2:
			b = append(b[:at], b[at+n:]...)
		case 3:
			b = append(b[:at+n:at+n], b[at:]...)
		case 4:
			b = b[:at]
		case 5:
			if number := numbers[m.IntN(len(numbers))]; len(b)-at >= 4 {
				binary.BigEndian.PutUint32(b[at:], number)
			} else if len(b)-at >= 2 {
				binary.BigEndian.PutUint16(b[at:], uint16(number))
			}
		case 6:
			b = append(append(b[:at:at], m.value()...), b[at:]...)
		case 7:
			if len(m.other) > 0 {
				from := m.IntN(len(m.other))
				b = append(append(b[:at:at], m.other[from:]...), b[at:]...)
			}
		}
	}
	m.other = b
	return b
}

// envelope changes an envelope: the header, the body with its true length, or both as they come.
func (m *mutator) envelope(b []byte) []byte {
	switch m.IntN(4) {
	case 0:
		return append(m.bytes(b[:protocol.HeaderSize]), b[protocol.HeaderSize:]...)
	case 1:
		return m.bytes(b)
	}
	body := m.bytes(b[protocol.HeaderSize:])
	b = append(bytes.Clone(b[:protocol.HeaderSize]), body...)
	protocol.FinishFrame(b, 0)
	return b
}

// statements returns the statements of all scripts below a folder, each once, without the matches of locksOut.
func statements(folder string) (texts []string, err error) {
	known := map[string]bool{}
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s, err := script.Parse(string(content))
		if err != nil {
			return err
		}
		for _, b := range s.Blocks {
			for _, text := range b.Statements {
				if !known[text] && !locksOut(text) {
					known[text] = true
					texts = append(texts, text)
				}
			}
		}
		return nil
	})
	return texts, err
}

// locksOut reports whether a statement may drop the superuser or its permissions, which watch needs.
func locksOut(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, superuser) || strings.Contains(text, "truncate") && strings.Contains(text, "system_auth")
}
