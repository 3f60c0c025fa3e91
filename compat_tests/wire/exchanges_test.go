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
	cut      bool // the recording does not have the whole request
	answers  []answer
	closed   bool
	noAnswer bool
}

// answer is one line of bytes that came back.
type answer struct {
	bytes []byte
	cut   bool
}

// connState is what an @ line says of a connection.
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
		b, cut, err := readHex(rest)
		x.request, x.cut = b, cut
		return err
	case "<":
		b, cut, err := readHex(rest)
		x.answers = append(x.answers, answer{b, cut})
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

func readHex(text string) (b []byte, cut bool, err error) {
	text, _, cut = strings.Cut(text, "..")
	b, err = hex.DecodeString(strings.TrimSpace(text))
	return b, cut, err
}

// query is the CQL inside a request, as far as it can be seen: for picking out what an exchange is about.
func (x *exchange) query() string {
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' || r == 0xfffd {
			return -1
		}
		return r
	}, x.request))
}
