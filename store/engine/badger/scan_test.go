package badger

import (
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/store/engine"
)

// Scans that Badger excludes tables from find all keys, in both directions: also where the end of the range is a key.
// So do those that leave it out.
func TestScansWithPrefixes(t *testing.T) {
	e := open(t, "")
	defer e.Close()
	for _, key := range []string{
		"area", "areb", "areb\x00", "areb1", "areb\xff", "areb\xff\xff", "arec", "arec1", "ared",
	} {
		write(t, e, engine.Op{Kind: engine.Put, Key: []byte(key), Value: []byte("v")})
	}
	s := e.Snapshot()
	defer s.Release()
	for _, c := range []struct{ start, end, prefix, keys string }{
		{"areb", "arec", "areb", "areb areb\x00 areb1 areb\xff areb\xff\xff"},
		{"areb\x00", "arec", "areb", "areb\x00 areb1 areb\xff areb\xff\xff"},
		{"areb\xff", "arec", "areb", "areb\xff areb\xff\xff"},
		{"areb\xfe", "areb\xff", "areb\xfe", ""},
		{"areb", "areb\x01", "areb", "areb areb\x00"},
		{"areb", "arec1", "", "areb areb\x00 areb1 areb\xff areb\xff\xff arec"},
		{"areb", "ared", "", "areb areb\x00 areb1 areb\xff areb\xff\xff arec arec1"},
		{"arec", "", "", "arec arec1 ared"},
	} {
		if got := string(commonPrefix([]byte(c.start), []byte(c.end), false)); got != c.prefix {
			t.Errorf("from %q to %q: the prefix is %q, want %q", c.start, c.end, got, c.prefix)
		}
		for i, scan := range []func(
			start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
		) error{s.Scan, s.scanBadger, s.Scan, s.scanBadger} {
			var keys []string
			o := engine.ScanOptions{Reverse: i >= 2}
			err := scan([]byte(c.start), []byte(c.end), o, func(k, _ []byte) (bool, error) {
				keys = append(keys, string(k))
				return true, nil
			})
			if o.Reverse {
				slices.Reverse(keys)
			}
			if got := strings.Join(keys, " "); err != nil || got != c.keys {
				t.Errorf("from %q to %q, way %d: %q, %v, want %q", c.start, c.end, i, got, err, c.keys)
			}
		}
	}
}
