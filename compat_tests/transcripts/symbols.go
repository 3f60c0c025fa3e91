package transcripts

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// symbols replace ids that differ from run to run: each id gets one when it is first seen, so that equal ids are
// seen to be equal.
type symbols struct {
	keyspace, addr string
	of             map[string]string // by kind and bytes
	bytes          map[string][]byte // by symbol
	count          map[byte]int      // by kind
}

// The kinds of ids, the first letters of their symbols.
const (
	preparedID = 'p'
	metadataID = 'm'
	stateID    = 's'
	tracingID  = 't'
)

// Placeholder is the name of the keyspace of the run in requests and answers.
const Placeholder = "{ks}"

// addrPlaceholder is the address of the server in answers.
const addrPlaceholder = "{addr}"

func newSymbols(keyspace, addr string) *symbols {
	return &symbols{keyspace, addr, map[string]string{}, map[string][]byte{}, map[byte]int{}}
}

// add is the symbol of an id: $p1.
func (s *symbols) add(kind byte, id []byte) string {
	key := string(kind) + string(id)
	if s.of[key] == "" {
		s.count[kind]++
		s.of[key] = fmt.Sprintf("$%c%d", kind, s.count[kind])
		s.bytes[s.of[key]] = id
	}
	return s.of[key]
}

// id is the id that a symbol or hex means in a session.
func (s *symbols) id(text string) ([]byte, error) {
	if !strings.HasPrefix(text, "$") {
		return parseHex(text)
	}
	if id, ok := s.bytes[text]; ok {
		return id, nil
	}
	return nil, fmt.Errorf("%s has not been seen yet", text)
}

// channel is Cassandra's id of a connection, at the beginning of its messages about checksums.
var channel = regexp.MustCompile(`^[0-9a-f]{8}( invalid, unrecoverable CRC)`)

// text is a text from the server, in one line, with symbols in it.
func (s *symbols) text(text string) string {
	for symbol, id := range s.bytes {
		if symbol[1] == preparedID {
			text = strings.ReplaceAll(text, hex.EncodeToString(id), symbol)
		}
	}
	text = strings.ReplaceAll(text, s.keyspace, Placeholder)
	text = strings.ReplaceAll(text, s.addr, addrPlaceholder)
	text = channel.ReplaceAllString(text, "{channel}$1")
	return strings.ReplaceAll(text, "\n", `\n`)
}

// statement is a text of the session as it is sent.
func (s *symbols) statement(text string) string {
	return strings.ReplaceAll(text, Placeholder, s.keyspace)
}
