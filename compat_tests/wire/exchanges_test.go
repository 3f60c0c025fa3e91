package wire

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exchange is one block of a recording.
type exchange struct {
	file     string
	line     int // of its title
	title    string
	varies   string
	conn     string // c119
	state    connState
	request  []byte
	cut      bool // the recording has only the beginning of the request
	answers  []answer
	closed   bool
	noAnswer bool
}

// answer is one line of bytes that came back.
type answer struct {
	bytes []byte
	cut   bool
}

// is reports whether an answer without segments begins like that.
func (a answer) is(opcode byte) bool { return len(a.bytes) > 9 && a.bytes[4] == opcode }

// connState is the state of a connection that an @ line describes.
type connState struct {
	version        int // 0: not said
	ready          bool
	authenticating bool
	raw            bool
	compression    string
	keyspace       string
	role           string
}

// name is how verdicts.txt calls an exchange.
func (x *exchange) name() string { return fmt.Sprintf("%s:%d", x.file, x.line) }

// readRecording reads one file.
func readRecording(t *testing.T, path string) []*exchange {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []*exchange
	line := 1
	for block := range strings.SplitSeq(string(content), "\n\n") {
		lines := strings.Split(block, "\n")
		x := &exchange{file: strings.TrimSuffix(filepath.Base(path), ".txt"), line: line}
		for _, l := range lines {
			if err := x.readLine(l); err != nil {
				t.Fatalf("%s: %q: %v", x.name(), l, err)
			}
		}
		if x.conn != "" {
			all = append(all, x)
		}
		line += len(lines) + 1
	}
	return all
}

func (x *exchange) readLine(l string) error {
	mark, rest, _ := strings.Cut(l, " ")
	switch mark {
	case "#":
		if v, ok := strings.CutPrefix(rest, "varies: "); ok {
			x.varies = v
		} else {
			x.title = rest
		}
	case "@":
		return x.readState(rest)
	case ">":
		b, size, err := readHex(rest)
		x.request = b
		if size > 0 {
			x.cut = !x.complete(size)
		}
		return err
	case "<":
		b, size, err := readHex(rest)
		x.answers = append(x.answers, answer{b, size > 0})
		return err
	case "!":
		x.closed = x.closed || rest == "closed"
		x.noAnswer = x.noAnswer || rest == "no answer"
	case "":
	default:
		return fmt.Errorf("unknown mark")
	}
	return nil
}

func (x *exchange) readState(text string) error {
	words := strings.Fields(text)
	x.conn = words[0]
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case w == "new":
		case w == "ready":
			x.state.ready = true
		case w == "authenticating":
			x.state.authenticating = true
		case w == "raw":
			x.state.raw = true
		case w == "lz4" || w == "snappy":
			x.state.compression = w
		case w == "as":
			i++
			x.state.role = words[i]
		case strings.HasPrefix(w, "keyspace="):
			x.state.keyspace = strings.TrimPrefix(w, "keyspace=")
		case len(w) == 2 && w[0] == 'v':
			x.state.version = int(w[1] - '0')
		default:
			return fmt.Errorf("unknown state %q", w)
		}
	}
	return nil
}

// readHex reads bytes; of a line that is cut, size is how many there are.
func readHex(text string) (b []byte, size int, err error) {
	text, note, cut := strings.Cut(text, "..")
	if cut {
		if _, err := fmt.Sscanf(note, " (%d bytes in all)", &size); err != nil {
			return nil, 0, err
		}
	}
	b, err = hex.DecodeString(strings.TrimSpace(text))
	return b, size, err
}

// is reports whether the request is one message of a kind.
func (x *exchange) is(opcode byte) bool {
	return !x.state.raw && len(x.request) > 9 && x.request[4] == opcode
}

// text is the CQL of a QUERY or PREPARE that is not compressed; something else for other requests.
func (x *exchange) text() string {
	b := bytes.NewBuffer(x.request)
	number := func(size int) (n int) {
		for _, digit := range b.Next(size) {
			n = n<<8 | int(digit)
		}
		return n
	}
	if header := b.Next(9); len(header) == 9 && header[1]&flagCustomPayload != 0 {
		for range number(2) {
			b.Next(number(2))
			b.Next(number(4))
		}
	}
	return string(b.Next(number(4)))
}

// query is the CQL inside a request, if there is any, to recognize the subject of an exchange.
func (x *exchange) query() string {
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' || r == 0xfffd {
			return -1
		}
		return r
	}, x.request))
}
