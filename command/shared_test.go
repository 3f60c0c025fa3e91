package command

import (
	"net"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/store/cluster"
)

// sharedSettings reads the flags of serve for a server that shares its engine.
func sharedSettings(args ...string) (*settings, error) {
	var o cluster.Options
	e := &Engine{Reach: func(*pflag.FlagSet) {}, Flags: func(f *pflag.FlagSet) { NodeFlags(f, &o) }, Shared: &o}
	return readSettings(&console{getenv: func(string) string { return "" }, engine: e, version: "v1"}, args)
}

func TestSharedRefused(t *testing.T) {
	for _, args := range []string{
		"--ring dc1=3", "--strict-replicas", "--test-controls", "--lease 1ms", "--lease 6s", "--down-after 20m",
	} {
		if _, err := sharedSettings(strings.Fields(args)...); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
}

func TestSharedAddress(t *testing.T) {
	for _, c := range []struct{ args, listening, want string }{
		{"", "127.0.0.1:9042", "127.0.0.1:9042"},
		{"--listen 127.0.0.1:0", "127.0.0.1:5000", "127.0.0.1:5000"},
		{"--listen 0.0.0.0:9042 --advertise 192.0.2.7", "[::]:9042", "192.0.2.7:9042"},
		{"--listen 0.0.0.0:0 --advertise 192.0.2.7", "[::]:5000", "192.0.2.7:5000"},
		{"--listen 0.0.0.0:9042 --advertise 192.0.2.7:19042", "[::]:9042", "192.0.2.7:19042"},
		{"--listen 0.0.0.0:9042", "[::]:9042", ""},
		{"--advertise 0.0.0.0", "127.0.0.1:9042", ""},
	} {
		s, err := sharedSettings(append(strings.Fields(c.args), "--rack", "r2")...)
		if err != nil {
			t.Fatal(err)
		}
		at, err := net.ResolveTCPAddr("tcp", c.listening)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.joinAt(at); (err != nil) != (c.want == "") {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if n := s.node(zerolog.Nop()); c.want != "" && (n.Address.String() != c.want || n.Rack != "r2" || n.Release != "v1") {
			t.Errorf("%s: the node is %v in %s of %s, want %s", c.args, n.Address, n.Rack, n.Release, c.want)
		}
	}
}
