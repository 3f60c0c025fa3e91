package protocol

import (
	"bytes"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"strings"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestChecksums has vectors that Cassandra computed.
func TestChecksums(t *testing.T) {
	for input, want := range map[string]uint32{"000000": 8251255, "40E201": 5891942} {
		if got := crc24(unhex(t, input)); got != want {
			t.Errorf("crc24(%s) = %d, want %d", input, got, want)
		}
	}
	for input, want := range map[string]uint32{"": 1148681939, "010203040506": 3536190002} {
		if got := crc32Payload(unhex(t, input)); got != want {
			t.Errorf("crc32(%s) = %d, want %d", input, got, want)
		}
	}
}

// TestSegmentVectors encodes segments as they are on the wire.
func TestSegmentVectors(t *testing.T) {
	plain := Encoder{Version: V5, Segments: true}
	lz4 := Encoder{Version: V5, Segments: true, Compression: LZ4}
	for _, c := range []struct {
		name string
		have []byte
		want string
	}{
		{
			"OPTIONS", plain.Flush(plain.AppendRequest(nil, 1, 0, nil, &Options{})),
			"090002a4c8c1 050000010500000000 b5557486",
		},
		{"READY", plain.Flush(plain.Append(nil, 0, nil, &Ready{})), "090002a4c8c1 850000000200000000 4f5a5d99"},
		{
			"READY, LZ4", lz4.Flush(lz4.Append(nil, 0, nil, &Ready{})),
			"0900000004c2b895 850000000200000000 4f5a5d99",
		},
	} {
		if !bytes.Equal(c.have, unhex(t, c.want)) {
			t.Errorf("%s\n have %x\n want %s", c.name, c.have, c.want)
		}
	}
}

// cutAll takes a stream of segments apart, in pieces as they may arrive.
func cutAll(t *testing.T, in *Segments, b []byte, step int) (list [][]byte) {
	t.Helper()
	var have []byte
	for len(b) > 0 {
		n := min(step, len(b))
		have, b = append(have, b[:n]...), b[n:]
		for {
			envelopes, n, err := in.Next(have)
			if err != nil {
				t.Fatal(err)
			}
			for rest := envelopes; len(rest) > 0; {
				before := rest
				_, _, after, err := CutEnvelope(rest, in.Limit)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, bytes.Clone(before[:len(before)-len(after)]))
				rest = after
			}
			if n == 0 {
				break
			}
			have = have[n:]
		}
	}
	if len(have) > 0 {
		t.Fatalf("%d bytes were not used", len(have))
	}
	return list
}

// TestSegmentsRoundTrip packs envelopes of all sizes and takes them apart again.
func TestSegmentsRoundTrip(t *testing.T) {
	sizes := []int{0, 10, 131050, 131051, 131053, 131054, 262000, 5, 70000, 70000, 70000, 500000, 1, 2}
	for _, c := range []Compression{NoCompression, LZ4} {
		for _, step := range []int{17, 4096, 1 << 30} {
			e := Encoder{Version: V5, Compression: c, Segments: true}
			var buf []byte
			var want [][]byte
			for i, size := range sizes {
				m := &sizedMessage{bytes.Repeat([]byte{byte(i)}, size)}
				buf = e.Append(buf, int16(i), nil, m)
				want = append(want, AppendResponse(nil, V5, int16(i), nil, m))
				if i%5 == 4 {
					buf = e.Flush(buf)
				}
			}
			buf = e.Flush(buf)
			if step == 17 {
				buf = buf[:0]
				for i := range 20 {
					buf = e.Append(buf, int16(i), nil, &Ready{})
				}
				buf = e.Flush(buf)
				want = want[:0]
				for i := range 20 {
					want = append(want, AppendResponse(nil, V5, int16(i), nil, &Ready{}))
				}
			}
			got := cutAll(t, &Segments{Compressed: c == LZ4, Limit: 1 << 24}, buf, step)
			if len(got) != len(want) {
				t.Fatalf("%s: %d envelopes, want %d", c, len(got), len(want))
			}
			for i := range got {
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("%s: envelope %d differs", c, i)
				}
			}
		}
	}
}

// TestSegmentCuts compares the cuts with those of Cassandra.
func TestSegmentCuts(t *testing.T) {
	for _, c := range []struct {
		compression Compression
		envelope    int
		want        []int
	}{
		{NoCompression, 131059, []int{131059}},
		{NoCompression, 131060, []int{131060}},
		{NoCompression, 131062, []int{131062}},
		{NoCompression, 131063, []int{131054, 9}},
		{NoCompression, 300000, []int{131054, 131054, 37892}},
		{LZ4, 131063, []int{131060, 3}},
		{LZ4, 300000, []int{131060, 131060, 37880}},
	} {
		e := Encoder{Version: V5, Compression: c.compression, Segments: true}
		buf := e.Flush(e.Append(nil, 0, nil, &sizedMessage{make([]byte, c.envelope-HeaderSize)}))
		var got []int
		for len(buf) > 0 {
			info, ok, err := parseSegmentHeader(buf, c.compression == LZ4)
			if !ok || err != nil {
				t.Fatal(err)
			}
			if whole := c.envelope < largeEnvelope; info.selfContained != whole {
				t.Errorf("%d: self-contained is %v", c.envelope, info.selfContained)
			}
			got = append(got, max(info.uncompressed, info.length))
			buf = buf[info.header+info.length+segmentTrailer:]
		}
		if len(got) != len(c.want) {
			t.Fatalf("%d: %v, want %v", c.envelope, got, c.want)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%d: %v, want %v", c.envelope, got, c.want)
			}
		}
	}
}

// segmentOf wraps bytes that need not be envelopes.
func segmentOf(payload []byte, whole bool) []byte {
	info := segmentInfo{header: segmentHeader, length: len(payload), selfContained: whole}
	b := append(make([]byte, segmentHeader), payload...)
	putSegmentHeader(b, info)
	crc := crc32Payload(payload)
	return append(b, byte(crc), byte(crc>>8), byte(crc>>16), byte(crc>>24))
}

// TestSegmentFaults has what a client must not send.
func TestSegmentFaults(t *testing.T) {
	envelope := func(length uint32) []byte {
		return AppendHeader(nil, Header{Version: V5, Opcode: OpOptions, Stream: 4, Length: length})
	}
	good := segmentOf(envelope(0), true)
	badHeader, badBody, unseeded := bytes.Clone(good), bytes.Clone(good), bytes.Clone(good)
	badHeader[0]++
	badBody[8]++
	sum := crc32.ChecksumIEEE(envelope(0))
	copy(unseeded[len(unseeded)-4:], []byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)})
	var crc *CRCError
	for _, b := range [][]byte{badHeader, badBody, unseeded} {
		in := Segments{Limit: 100}
		if _, _, err := in.Next(b); !errors.As(err, &crc) {
			t.Errorf("%x: %v", b, err)
		}
	}
	if text := (&CRCError{"body", 1, 2}).On("f234b6ab").Message; text != "f234b6ab invalid, unrecoverable CRC "+
		"mismatch detected in frame body. Read 1, Computed 2" {
		t.Error(text)
	}
	for name, b := range map[string][]byte{
		"cut header":      segmentOf(envelope(500)[:8], false),
		"negative length": segmentOf(envelope(0xffffffff), false),
		"too long":        segmentOf(append(envelope(1), 1, 2), false),
	} {
		in := Segments{Limit: 1000}
		var fatal *SegmentError
		if _, _, err := in.Next(b); !errors.As(err, &fatal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, b := range map[string][]byte{
		"garbage": {1, 2, 3}, "body too long": envelope(3),
		"negative": envelope(0x80000000),
	} {
		var fatal *SegmentError
		if _, _, _, err := CutEnvelope(b, 1000); !errors.As(err, &fatal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSegmentsSkipLongEnvelopes sends a message that is too long, in slices, and another one between them.
func TestSegmentsSkipLongEnvelopes(t *testing.T) {
	in := Segments{Limit: 100}
	long := AppendHeader(nil, Header{Version: V5, Opcode: OpQuery, Stream: 4, Length: 300})
	for i, c := range []struct {
		b      []byte
		whole  bool
		stream int16
		err    string
	}{
		{append(long, make([]byte, 100)...), false, -1, ""},
		{AppendHeader(nil, Header{Version: V5, Opcode: OpOptions, Stream: 5}), true, 5, ""},
		{nil, false, -1, ""},
		{make([]byte, 150), false, -1, ""},
		{make([]byte, 50), false, 4, "CQL Message of size 300 bytes exceeds allowed maximum of 100 bytes"},
	} {
		envelopes, n, err := in.Next(segmentOf(c.b, c.whole))
		if err != nil || n != len(c.b)+10 {
			t.Fatalf("step %d: %d bytes, %v", i, n, err)
		}
		if len(envelopes) == 0 {
			if c.stream != -1 {
				t.Errorf("step %d: nothing came", i)
			}
			continue
		}
		h, _, rest, err := CutEnvelope(envelopes, in.Limit)
		if h.Stream != c.stream || len(rest) != 0 || (err != nil) != (c.err != "") || err != nil && err.Error() != c.err {
			t.Errorf("step %d: %+v, %v", i, h, err)
		}
	}
	if cap(in.large) > 200 {
		t.Errorf("%d bytes were kept of a message that is too long", cap(in.large))
	}
}

// TestRecordedSegments takes the recorded segments apart and packs the envelopes in them again.
func TestRecordedSegments(t *testing.T) {
	count := 0
	for _, x := range recordings(t) {
		if !x.segmented() {
			continue
		}
		for _, b := range append(x.requests, x.answers...) {
			in := Segments{Compressed: x.compression() == LZ4, Limit: 1 << 24}
			for len(b) > 0 {
				payload, n, err := in.Next(b)
				if err != nil || n == 0 {
					break // the recording tries a mistake, or is cut
				}
				e := Encoder{Version: V5, Compression: x.compression(), Segments: true}
				var again []byte
				for rest := payload; len(rest) > 0; {
					before := rest
					if _, _, rest, err = CutEnvelope(rest, in.Limit); err != nil {
						break
					}
					again = e.AppendEnvelope(again, before[:len(before)-len(rest)])
				}
				info, _, _ := parseSegmentHeader(b, in.Compressed)
				if err == nil && info.selfContained && info.uncompressed == 0 && len(payload) > 0 {
					// The blocks of two LZ4 compressors may differ, and clients need not compress.
					if again = e.Flush(again); !in.Compressed && !bytes.Equal(again, b[:n]) &&
						!strings.HasPrefix(x.title, "reserved header bit") {
						t.Errorf("%s:%d %s\n have %x\n want %x", x.file, x.line, x.title, again, b[:n])
					}
					count++
				}
				b = b[n:]
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d segments", count)
	}
}

// sizedMessage is a message of any length.
type sizedMessage struct{ cells []byte }

func (*sizedMessage) Opcode() Opcode                        { return OpResult }
func (*sizedMessage) String() string                        { return "sized" }
func (*sizedMessage) response()                             {}
func (m *sizedMessage) append(dst []byte, _ Version) []byte { return append(dst, m.cells...) }
func (m *sizedMessage) decode(r *reader, _ Version)         { m.cells = r.b }
