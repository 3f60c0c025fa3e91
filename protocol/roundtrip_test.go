package protocol

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
)

// versions are those whose envelopes differ.
var versions = []Version{V3, V4, V5}

// TestRequestsRoundTrip encodes every kind of request, decodes it into structs that held another before, and
// compares.
func TestRequestsRoundTrip(t *testing.T) {
	var requests Requests
	for _, v := range versions {
		seen := map[Opcode]bool{}
		for _, m := range sampleRequests(v) {
			seen[m.Opcode()] = true
			b := AppendRequest(nil, Header{Version: v, Stream: 7}, nil, m)
			h := ParseHeader(b)
			if err := h.Check(); err != nil {
				t.Fatalf("%s %s: %v", v, m, err)
			}
			got, err := requests.Decode(h, append(b[HeaderSize:], 0xff)) // and a byte to be ignored
			if err != nil {
				t.Errorf("%s %s: %v", v, m, err)
				continue
			}
			if describe(got) != describe(m) {
				t.Errorf("%s\n have %s\n want %s", v, describe(got), describe(m))
			}
		}
		for op := range Opcode(len(opcodes)) {
			if op.IsRequest() != (requests.message(op) != nil) {
				t.Errorf("%s is missing in the table of requests", op)
			}
			if op.IsRequest() && op != OpCredentials && !seen[op] {
				t.Errorf("%s is not tried", op)
			}
		}
	}
}

// TestResponsesRoundTrip does the same with responses, with and without a prefix.
func TestResponsesRoundTrip(t *testing.T) {
	for _, v := range versions {
		full := &Prefix{Traced: true, TracingID: [16]byte{1, 2}}
		if v.HasWarnings() {
			full.Warnings = []string{"careful", ""}
			full.Payload = []PayloadEntry{{"k", []byte("v")}, {"null", nil}}
		}
		seen := map[reflect.Type]bool{}
		for _, m := range sampleResponses(v) {
			seen[reflect.TypeOf(m)] = true
			for _, p := range []*Prefix{full, {}} {
				b := AppendResponse(nil, v, -1, p, m)
				h := ParseHeader(b)
				got, prefix, err := DecodeResponse(h, b[HeaderSize:])
				if err != nil {
					t.Errorf("%s %s: %v", v, m, err)
					continue
				}
				if !reflect.DeepEqual(prefix, p) {
					t.Errorf("%s: prefix %+v, want %+v", v, prefix, p)
				}
				if describe(got) != describe(m) {
					t.Errorf("%s\n have %s\n want %s", v, describe(got), describe(m))
				}
				if again := AppendResponse(nil, v, -1, prefix, got); !bytes.Equal(again, b) {
					t.Errorf("%s %s\n have %x\n want %x", v, m, again, b)
				}
			}
		}
		for op := range Opcode(len(opcodes)) {
			r := &reader{b: []byte{0, 0, 0, 1}}
			if m := responseMessage(op, r); op.IsRequest() == (m != nil) {
				t.Errorf("%s is missing in the table of responses", op)
			} else if m != nil && !seen[reflect.TypeOf(m)] {
				t.Errorf("%s is not tried", op)
			}
		}
	}
}

// describe prints everything about a message that the wire carries.
func describe(m Message) string {
	switch m := m.(type) {
	case *Error:
		return fmt.Sprintf("%T %+v", m, *m.Err)
	case *Rows:
		return fmt.Sprintf("%T %s %q %s", m, m, m.Cells, describeColumns(m.Metadata.Columns))
	case *Prepared:
		return fmt.Sprintf("%T %s %q %v %s %s", m, m, m.ResultMetadataID, m.PKIndexes, describeColumns(m.Bind),
			describeColumns(m.Result))
	case *Batch:
		return fmt.Sprintf("%T %v %+v %+v", m, m.Type, m.Children, m.Parameters)
	}
	return fmt.Sprintf("%T %q", m, m) + fmt.Sprintf("%+v", reflect.ValueOf(m).Elem())
}

func describeColumns(s *ColumnSpecs) string {
	var b bytes.Buffer
	for _, c := range s.Columns() {
		fmt.Fprintf(&b, "%s.%s.%s %s %v,", c.Keyspace, c.Table, c.Name, c.Type, c.Desc)
	}
	return b.String()
}

// TestRequestsReuse decodes a large request and then a small one, of which nothing may be left.
func TestRequestsReuse(t *testing.T) {
	var requests Requests
	for _, v := range versions {
		for _, first := range sampleRequests(v) {
			for _, second := range sampleRequests(v) {
				for _, m := range []Request{first, second} {
					b := AppendRequest(nil, Header{Version: v}, nil, m)
					got, err := requests.Decode(ParseHeader(b), b[HeaderSize:])
					if err != nil || describe(got) != describe(m) {
						t.Fatalf("%s behind %s: %s, %v", m, first, describe(got), err)
					}
				}
			}
		}
	}
}

// TestExecuteDoesNotAllocate decodes and answers what a busy server sees most.
func TestExecuteDoesNotAllocate(t *testing.T) {
	var requests Requests
	var buf []byte
	for _, v := range versions {
		e := Encoder{Version: v, Segments: v.HasSegments()}
		rows := sampleResponses(v)[7].(*Rows)
		for _, m := range sampleRequests(v) {
			if m.Opcode() != OpExecute {
				continue
			}
			m.(*Execute).Parameters.Flags &^= WithKeyspace // a string
			b := AppendRequest(nil, Header{Version: v}, nil, m)
			n := testing.AllocsPerRun(100, func() {
				if _, err := requests.Decode(ParseHeader(b), b[HeaderSize:]); err != nil {
					t.Fatal(err)
				}
				buf = e.Flush(e.Append(buf[:0], 1, nil, rows))
			})
			if n != 0 {
				t.Errorf("%s: %v allocations", v, n)
			}
		}
	}
}
