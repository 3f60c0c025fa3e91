package protocol

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/compression/lz4"
	"github.com/datastax/go-cassandra-native-protocol/compression/snappy"
	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/segment"
)

// The tests of this file compare with an independent implementation of the protocol.

// otherFrames returns the other implementation's codec of envelopes.
func otherFrames(c Compression) frame.RawCodec {
	switch c {
	case LZ4:
		return frame.NewRawCodecWithCompression(lz4.Compressor{})
	case Snappy:
		return frame.NewRawCodecWithCompression(snappy.Compressor{})
	}
	return frame.NewRawCodec()
}

func otherSegments(c Compression) segment.Codec {
	if c == LZ4 {
		return segment.NewCodecWithCompression(lz4.Compressor{})
	}
	return segment.NewCodec()
}

// TestInteropMessages lets the other implementation decode every message and encode it again: the bytes are
// the same.
func TestInteropMessages(t *testing.T) {
	for _, v := range versions {
		for _, m := range sampleRequests(v) {
			if a, ok := m.(*AuthResponse); ok && a.Token == nil {
				continue // the other implementation refuses null tokens
			}
			interop(t, AppendRequest(nil, Header{Version: v, Stream: 3}, nil, m), m)
		}
		// The other implementation takes warnings and payload in another order than Cassandra sends them.
		warned := &Prefix{Traced: true, TracingID: [16]byte{5}}
		extended := &Prefix{Traced: true, TracingID: [16]byte{6}}
		if v.HasWarnings() {
			warned.Warnings = []string{"one", "two"}
			extended.Payload = []PayloadEntry{{"k", []byte("v")}}
		}
		for _, m := range sampleResponses(v) {
			for _, p := range []*Prefix{nil, warned, extended} {
				interop(t, AppendResponse(nil, v, 3, p, m), m)
			}
		}
	}
}

func interop(t *testing.T, b []byte, m Message) {
	t.Helper()
	f, err := otherFrames(NoCompression).DecodeFrame(bytes.NewReader(b))
	if err != nil {
		t.Errorf("%s: the other side cannot decode it: %v\n %x", m, err, b)
		return
	}
	var again bytes.Buffer
	if err := otherFrames(NoCompression).EncodeFrame(f, &again); err != nil {
		t.Errorf("%s: the other side cannot encode it: %v", m, err)
		return
	}
	if !bytes.Equal(again.Bytes(), b) {
		t.Errorf("%s\n have %x\n want %x", m, b, again.Bytes())
	}
}

// TestInteropCompression exchanges compressed envelopes in both directions.
func TestInteropCompression(t *testing.T) {
	for _, v := range []Version{V3, V4} {
		for _, c := range []Compression{LZ4, Snappy} {
			for _, m := range sampleResponses(v) {
				plain := AppendResponse(nil, v, 9, nil, m)
				e := Encoder{Version: v, Compression: c}
				b := e.Flush(e.Append(nil, 9, nil, m))
				raw, err := otherFrames(c).DecodeRawFrame(bytes.NewReader(b))
				if err != nil {
					t.Fatalf("%s %s %s: %v", v, c, m, err)
				}
				f, err := otherFrames(c).ConvertFromRawFrame(raw)
				if err != nil {
					if len(plain) == HeaderSize {
						continue // the other implementation does not decompress empty bodies
					}
					t.Fatalf("%s %s %s: %v", v, c, m, err)
				}
				var again bytes.Buffer
				if err := otherFrames(c).EncodeFrame(f, &again); err != nil {
					t.Fatal(err)
				}
				h := ParseHeader(again.Bytes())
				body, err := c.Body(h, again.Bytes()[HeaderSize:], nil, 1<<20)
				if err != nil || !bytes.Equal(body, plain[HeaderSize:]) {
					t.Errorf("%s %s %s: %v\n have %x\n want %x", v, c, m, err, body, plain[HeaderSize:])
				}
			}
		}
	}
}

// TestInteropSegments lets the other implementation take segments apart, and takes its apart.
func TestInteropSegments(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	for _, c := range []Compression{NoCompression, LZ4} {
		e := Encoder{Version: V5, Compression: c, Segments: true}
		var buf, want []byte
		for i, size := range []int{0, 1, 100, 5000, 131000, 131035, 131040, 131060, 300000, 7, 1000000, 130000, 130000} {
			cells := make([]byte, size)
			random.Read(cells) // cannot be compressed
			if i%2 == 0 {
				for i := range cells {
					cells[i] &= 0x03 // the other implementation fails if the ratio of compression is too high
				}
			}
			m := &sizedMessage{cells}
			want = AppendResponse(want, V5, 1, nil, m)
			buf = e.Append(buf, 1, nil, m)
		}
		buf = e.Flush(buf)
		var got []byte
		for r := bytes.NewReader(buf); r.Len() > 0; {
			s, err := otherSegments(c).DecodeSegment(r)
			if err != nil {
				t.Fatalf("%s: %v", c, err)
			}
			got = append(got, s.Payload.UncompressedData...)
			var again bytes.Buffer
			if err := otherSegments(c).EncodeSegment(s, &again); err != nil {
				t.Fatal(err)
			}
			in := Segments{Compressed: c == LZ4, Limit: 1 << 24}
			info, _, err := parseSegmentHeader(again.Bytes(), c == LZ4)
			if err != nil || info.selfContained != s.Header.IsSelfContained {
				t.Fatalf("%s: header %+v, %v", c, info, err)
			}
			if !info.selfContained {
				continue
			}
			payload, n, err := in.Next(again.Bytes())
			if err != nil || n != again.Len() || !bytes.Equal(payload, s.Payload.UncompressedData) {
				t.Fatalf("%s: %d of %d bytes, %v", c, n, again.Len(), err)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the payloads differ", c)
		}
	}
}
