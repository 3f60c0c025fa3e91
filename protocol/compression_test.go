package protocol

import (
	"bytes"
	"strings"
	"testing"
)

// TestCompression compresses bodies of several kinds and decompresses them behind others.
func TestCompression(t *testing.T) {
	bodies := [][]byte{nil, {0}, []byte("hello hello hello hello hello"), make([]byte, 100000)}
	for _, c := range []Compression{NoCompression, LZ4, Snappy} {
		for _, body := range bodies {
			packed := c.AppendCompressed([]byte("x"), body)
			got, err := c.AppendDecompressed([]byte("y"), packed[1:], 1<<20)
			if err != nil || !bytes.Equal(got[1:], body) || got[0] != 'y' || packed[0] != 'x' {
				t.Errorf("%s: %d bytes: %v", c, len(body), err)
			}
		}
	}
	if b := LZ4.AppendCompressed(nil, nil); !bytes.Equal(b, []byte{0, 0, 0, 0, 0}) {
		t.Errorf("an empty body is %x", b)
	}
	if b := Snappy.AppendCompressed(nil, nil); !bytes.Equal(b, []byte{0}) {
		t.Errorf("an empty body is %x", b)
	}
}

// TestDecompressionIsBounded has bodies that promise more than they can hold or than is wanted.
func TestDecompressionIsBounded(t *testing.T) {
	for _, c := range []struct {
		compression Compression
		body        string
		want        string
	}{
		{LZ4, "", "Provided frame does not appear to be LZ4 compressed"},
		{LZ4, "00000001", "Provided frame does not appear to be LZ4 compressed"},
		{LZ4, "000fffff 1061", "Provided frame does not appear to be LZ4 compressed"},
		{LZ4, "00000002 1061", "Provided frame does not appear to be LZ4 compressed"},
		{LZ4, "00000000 1061", "Provided frame does not appear to be LZ4 compressed"},
		{LZ4, "7fffffff 1061", "Provided frame does not appear to be LZ4 compressed"},
		{LZ4, "ffffffff 1061", "Provided frame does not appear to be LZ4 compressed"},
		{
			LZ4, "00100001" + strings.Repeat("00", 5000),
			"Request is too big: length 1048577 exceeds maximum allowed length 1048576.",
		},
		{Snappy, "", "Provided frame does not appear to be Snappy compressed"},
		{Snappy, "ffffff3f 0061", "Provided frame does not appear to be Snappy compressed"},
		{Snappy, "ffffffff7f 0061", "Provided frame does not appear to be Snappy compressed"},
		{Snappy, "02 0061", "Provided frame does not appear to be Snappy compressed"},
	} {
		_, err := c.compression.AppendDecompressed(nil, unhex(t, c.body), 1<<20)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %s: %v, want %s", c.compression, c.body, err, c.want)
		}
	}
	big := Snappy.AppendCompressed(nil, make([]byte, 2000))
	if _, err := Snappy.AppendDecompressed(nil, big, 1000); err == nil {
		t.Error("a body over the limit was decompressed")
	}
}

// TestParseCompression has the values of the option COMPRESSION.
func TestParseCompression(t *testing.T) {
	for _, c := range []struct {
		name    string
		version Version
		want    Compression
		err     string
	}{
		{"lz4", V4, LZ4, ""},
		{"LZ4", V5, LZ4, ""},
		{"Snappy", V3, Snappy, ""},
		{"snappy", V5, 0, "Snappy compression is not supported in protocol V5"},
		{"none", V4, 0, "Unknown compression algorithm: none"},
		{"", V4, 0, "Unknown compression algorithm: "},
	} {
		got, err := ParseCompression(c.name, c.version)
		if got != c.want || (err != nil) != (c.err != "") || err != nil && err.Error() != c.err {
			t.Errorf("%q %s: %v, %v", c.name, c.version, got, err)
		}
	}
}
