package protocol

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// An exchange is one block of a recording of Cassandra: see compat_tests/wire/README.md.
type exchange struct {
	file, title string
	line        int
	state       string // the line with @
	version     Version
	raw         bool
	requests    [][]byte
	answers     [][]byte
}

// recordings reads all exchanges whose bytes are complete.
func recordings(t testing.TB) []exchange {
	files, err := filepath.Glob("../compat_tests/wire/recorded/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var all []exchange
	for _, name := range files {
		all = append(all, recording(t, name)...)
	}
	return all
}

func recording(t testing.TB, name string) (list []exchange) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var x exchange
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<20)
	for n := 1; s.Scan(); n++ {
		line := s.Text()
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "":
			list = append(list, x)
			x = exchange{}
		case "#":
			if x.title == "" {
				x.file, x.title, x.line = filepath.Base(name), rest, n
			}
		case "@":
			x.state = rest
			for _, word := range strings.Fields(rest) {
				if v, ok := strings.CutPrefix(word, "v"); ok {
					if n, err := strconv.Atoi(v); err == nil {
						x.version = Version(n)
					}
				}
				x.raw = x.raw || word == "raw"
			}
		case ">", "<":
			if strings.Contains(rest, "..") {
				continue // cut
			}
			b, err := hex.DecodeString(strings.TrimSpace(rest))
			if err != nil {
				t.Fatalf("%s:%d: %v", name, n, err)
			}
			if kind == ">" {
				x.requests = append(x.requests, b)
			} else {
				x.answers = append(x.answers, b)
			}
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return append(list, x)
}

// compression is what the connection of an exchange negotiated.
func (x *exchange) compression() Compression {
	for _, word := range strings.Fields(x.state) {
		if c, err := ParseCompression(word, V4); err == nil {
			return c
		}
	}
	return NoCompression
}

// envelopes cuts bytes of a connection into envelopes.
func envelopes(b []byte) (list [][]byte) {
	for len(b) >= HeaderSize {
		end := HeaderSize + int64(ParseHeader(b).Length)
		if end > int64(len(b)) {
			break
		}
		list = append(list, b[:end])
		b = b[end:]
	}
	return list
}

// segmented reports whether bytes of the exchange are segments.
func (x *exchange) segmented() bool {
	return x.raw && x.version.HasSegments() && strings.Contains(x.state, "ready")
}

// TestRecordedRequests decodes every request of the recordings that Cassandra understood and encodes it to
// the same bytes.
func TestRecordedRequests(t *testing.T) {
	var requests Requests
	count := 0
	for _, x := range recordings(t) {
		if x.segmented() {
			continue
		}
		for _, b := range x.requests {
			for _, e := range envelopes(b) {
				h := ParseHeader(e)
				if h.Check() != nil {
					continue
				}
				body, err := x.compression().Body(h, e[HeaderSize:], nil, 1<<24)
				if err != nil {
					continue
				}
				m, err := requests.Decode(h, body)
				if err != nil {
					continue
				}
				count++
				h.Flags &^= FlagCompressed
				again := AppendRequest(nil, h, requests.Payload, m)[HeaderSize:]
				want := body
				if !h.Version.HasUnset() { // unset, and other negative lengths, are null
					want = bytes.ReplaceAll(want, []byte("\xff\xff\xff\xfe"), []byte("\xff\xff\xff\xff"))
					want = bytes.ReplaceAll(want, []byte("\xff\xff\xff\xfd"), []byte("\xff\xff\xff\xff"))
				}
				if ignoredTail(x.title) {
					want = want[:min(len(again), len(want))]
				}
				if !bytes.Equal(again, want) {
					t.Errorf("%s:%d %s: %s\n have %x\n want %x", x.file, x.line, x.title, m, again, body)
				}
			}
		}
	}
	if count < 1000 {
		t.Errorf("only %d requests were decoded", count)
	}
}

// ignoredTail reports whether the title of an exchange says that a body is longer than its message: bytes
// that are ignored are not encoded again.
func ignoredTail(title string) bool {
	for _, words := range []string{"trailing", "non-empty body", "v5-style int flags"} {
		if strings.Contains(title, words) {
			return true
		}
	}
	return false
}

// TestRecordedResponses decodes every answer of the recordings and encodes it to the same bytes.
func TestRecordedResponses(t *testing.T) {
	count := 0
	for _, x := range recordings(t) {
		if x.segmented() {
			continue
		}
		for _, b := range x.answers {
			for _, e := range envelopes(b) {
				h := ParseHeader(e)
				if !h.Version.Supported() {
					continue
				}
				body, err := x.answerCompression().Body(h, e[HeaderSize:], nil, 1<<24)
				if err != nil {
					t.Errorf("%s:%d %s: %v", x.file, x.line, x.title, err)
					continue
				}
				m, prefix, err := DecodeResponse(h, body)
				if err != nil {
					t.Errorf("%s:%d %s: %v\n %x", x.file, x.line, x.title, err, body)
					continue
				}
				count++
				again := AppendResponse(nil, h.Version, h.Stream, prefix, m)
				e = append(AppendHeader(nil, Header{
					h.Version, true, h.Flags &^ FlagCompressed, h.Stream, h.Opcode, uint32(len(body)),
				}), body...)
				if change, ok := schemaChange(m); ok && !h.Version.HasFunctionChanges() {
					// The empty name behind the keyspace of a function is not decoded.
					if change.Target == targetKeyspace && bytes.HasSuffix(e, []byte{0, 0}) {
						again = append(again, 0, 0)
						FinishFrame(again, 0)
					}
				}
				if !bytes.Equal(again, e) {
					t.Errorf("%s:%d %s: %s\n have %x\n want %x", x.file, x.line, x.title, m, again, e)
				}
			}
		}
	}
	if count < 1000 {
		t.Errorf("only %d answers were decoded", count)
	}
}

// answerCompression is the compression of the answers, which a STARTUP can change; its title tells.
func (x *exchange) answerCompression() Compression {
	if strings.HasPrefix(x.title, "lz4: ") {
		return LZ4
	}
	if _, name, ok := strings.Cut(x.title, "COMPRESSION='"); ok {
		name, _, _ = strings.Cut(name, "'")
		c, _ := ParseCompression(name, V4)
		return c
	}
	return x.compression()
}

// schemaChange returns the schema change inside a result or an event.
func schemaChange(m Message) (*SchemaChange, bool) {
	switch m := m.(type) {
	case *SchemaChange:
		return m, true
	case *Event:
		return &m.Schema, m.Type == SchemaChanges
	}
	return nil, false
}

// TestRecordedErrors answers what Cassandra refused with a protocol error: requests that do not decode here
// get the same text.
func TestRecordedErrors(t *testing.T) {
	var requests Requests
	count := 0
	for _, x := range recordings(t) {
		if x.segmented() || len(x.requests) != 1 || len(x.answers) != 1 || x.compression() != NoCompression {
			continue
		}
		e := envelopes(x.requests[0])
		if len(e) == 0 {
			continue
		}
		h := ParseHeader(e[0])
		var err error
		if fault := h.Check(); fault != nil {
			err = fault
		} else {
			_, err = requests.Decode(h, e[0][HeaderSize:])
		}
		if err == nil {
			continue
		}
		answer, _, decodeErr := DecodeResponse(ParseHeader(x.answers[0]), x.answers[0][HeaderSize:])
		if decodeErr != nil {
			continue // a version that is not supported
		}
		want, ok := answer.(*Error)
		if !ok {
			t.Errorf("%s:%d %s: %v, where Cassandra answers %s", x.file, x.line, x.title, err, answer)
			continue
		}
		if strings.Contains(want.Err.Message, "java.lang.") || strings.Contains(want.Err.Message, "previous") ||
			strings.Contains(want.Err.Message, "Unexpected message") {
			continue // an exception of Java, or a rule of the connection
		}
		count++
		if err.Error() != want.Err.Message {
			t.Errorf("%s:%d %s:\n have %s\n want %s", x.file, x.line, x.title, err, want.Err.Message)
		}
	}
	if count < 20 {
		t.Errorf("only %d refused requests", count)
	}
}
