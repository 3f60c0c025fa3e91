package command

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	_ "github.com/cqld/cqld/cql/java" // compiles users' functions, where the settings enable them
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store/engine/disk"
)

// settings are the values of the flags of serve.
type settings struct {
	listen      string
	advertise   netip.AddrPort // zero: the address that each client dialled
	data        string
	memory      bool
	repair      bool
	ends        bool  // the process ends with the command
	memoryLimit int64 // 0: boundMemory decides
	memtable    int64
	filter      int64
	tombstones  int64
	reserve     diskReserve
	sync        disk.Sync
	purgeEvery  time.Duration
	clusterName string
	datacenter  string
	rack        string
	strict      bool
	ring        []server.RingNode // empty: one node
	level       zerolog.Level
	logFormat   string
	http        string // "": no HTTP
	httpHost    string // host names of this server, separated by commas
	httpPprof   bool
	write       bool   // all statements may run on the page of queries
	portFile    string // "": none
	withParent  bool   // the server stops when its parent process ends
	init        string // the folder of scripts; "": none
	limits      server.Limits
	guardrails  *guardrail.Settings

	logins bool                 // clients log in
	login  server.Authenticator // how clients log in
	masks  bool                 // columns may be masked

	certificates certificateFiles // empty: connections are not encrypted
	optionalTLS  bool

	controls bool // clients may control the clock, faults and more

	engine  *Engine      // replaces the data folder, or nil
	calls   *engineCalls // of that engine, once it is open
	release string       // our version, which other nodes see

	warnings []string // for the log

	given struct { // flags that check converts
		advertise, sync, level, config, auth, ring, tls string
		set                                             assignments
	}
}

// folderFlags need a data folder, or no engine.
var folderFlags = []string{"data", "memory", "repair", "commitlog-sync", "memtable", "disk-reserve", "init"}

// checkFolder refuses flags of data folders for a server without one.
func (s *settings) checkFolder(f *pflag.FlagSet) (err error) {
	for _, name := range folderFlags {
		if one := f.Lookup(name); one.Changed && s.engine != nil {
			return badFlag(name, one.Value.String(), "this server keeps its data in a cluster")
		}
	}
	for _, name := range []string{"data", "repair"} {
		if one := f.Lookup(name); s.memory && isOnCommandLine(one) {
			return badFlag(name, one.Value.String(), "cannot be used with --memory, which keeps no data on disk")
		}
	}
	return nil
}

// complete reads the environment of Cassandra's image, and checks and converts all values.
func (s *settings) complete(c *console, f *pflag.FlagSet) (err error) {
	if err := s.checkFolder(f); err != nil {
		return err
	}
	if s.engine != nil {
		s.memory = true // there is no folder
	}
	s.release = c.buildVersion()
	if s.warnings, err = cassandraEnv(f, c.getenv); err != nil {
		return err
	}
	s.listen = withPort(s.listen)
	if err := s.check(); err != nil {
		return err
	}
	s.guardrails, err = readGuardrails(s.given.config, s.given.set)
	return err
}

// check checks and converts the values of flags.
func (s *settings) check() (err error) {
	if !isHostPort(s.listen) {
		return badFlag("listen", s.listen, "want HOST:PORT, a host, or a port from 0 to 65535")
	}
	if s.advertise, err = parseAdvertise(s.given.advertise, s.listen); err != nil {
		return badFlag("advertise", s.given.advertise, "want an IP address, with or without a port")
	}
	if s.level, err = zerolog.ParseLevel(s.given.level); err != nil {
		return err
	}
	s.sync = disk.Sync(slices.Index(syncModes, s.given.sync))
	for _, check := range []func() error{s.checkLogins, s.checkHTTP, s.checkRing, s.checkShared, s.checkLimits} {
		if err := check(); err != nil {
			return err
		}
	}
	if s.purgeEvery <= 0 {
		return badFlag("purge-every", s.purgeEvery.String(), "want a duration, such as 10s")
	}
	if !s.memory && s.data == "" {
		return badFlag("data", s.data, "want a folder")
	}
	return nil
}

// checkRing parses --ring and refuses flags that contradict it.
func (s *settings) checkRing() (err error) {
	text := s.given.ring
	if text == "" {
		return nil
	}
	if _, err := strconv.Atoi(text); err == nil {
		text = s.datacenter + "=" + text
	}
	if s.ring, err = server.ParseRing(text); err != nil {
		return usagef("--ring %w", err)
	}
	for name, given := range map[string]bool{
		"advertise": s.given.advertise != "", "strict-replicas": s.strict,
		"datacenter": s.datacenter != "datacenter1", "rack": s.rack != "rack1",
	} {
		if given {
			return badFlag("ring", text, "cannot be used with --"+name)
		}
	}
	return nil
}

// checkLogins checks and converts the flags of authentication and TLS.
func (s *settings) checkLogins() error {
	if login, ok := authenticators[s.given.auth]; ok {
		s.logins, s.login = true, login
	}
	f := &s.certificates
	switch {
	case (f.certificate == "") != (f.key == ""):
		return usagef("--tls-cert and --tls-key need each other")
	case f.authorities != "" && f.certificate == "":
		return badFlag("tls-client-ca", f.authorities, "it needs --tls-cert and --tls-key")
	case s.login != server.ByPassword && f.authorities == "":
		return badFlag("auth", s.given.auth, "it needs --tls-cert, --tls-key and --tls-client-ca")
	case s.login == server.ByCertificate && s.given.tls != "required":
		return badFlag("auth", s.given.auth, "it needs --tls required")
	case s.login == server.ByCertificate && s.init != "":
		return badFlag("init", s.init, "cannot be used with --auth mtls: the scripts log in with a password")
	}
	s.optionalTLS = s.given.tls == "optional"
	return nil
}

// authenticators are the values of --auth with which clients log in.
var authenticators = map[string]server.Authenticator{
	"password":         server.ByPassword,
	"mtls":             server.ByCertificate,
	"mtls-or-password": server.ByCertificateOrPassword,
}

// checkLimits checks counts and timeouts.
func (s *settings) checkLimits() error {
	for _, count := range []struct {
		name       string
		value      int
		minN, maxN int
	}{
		{"max-connections", s.limits.Connections, 0, math.MaxInt32},
		{"max-connections-per-ip", s.limits.ConnectionsPerIP, 0, math.MaxInt32},
		{"max-requests", s.limits.Requests, 1, math.MaxInt32},
		{"max-requests-per-connection", s.limits.Concurrent, 1, math.MaxInt16},
		{"max-requests-per-second", s.limits.RequestsPerSecond, 0, math.MaxInt32},
		{"max-nesting", s.limits.Nesting, 10, parser.DefaultLimits.Nesting},
	} {
		if count.value < count.minN || count.value > count.maxN {
			return badFlag(count.name, strconv.Itoa(count.value),
				fmt.Sprintf("want a number from %d to %d", count.minN, count.maxN))
		}
	}
	for _, timeout := range []struct {
		name  string
		value time.Duration
	}{
		{"read-timeout", s.limits.ReadTimeout},
		{"range-timeout", s.limits.RangeTimeout},
		{"write-timeout", s.limits.WriteTimeout},
		{"counter-timeout", s.limits.CounterTimeout},
		{"cas-timeout", s.limits.CASTimeout},
		{"truncate-timeout", s.limits.TruncateTimeout},
	} {
		if timeout.value <= 0 {
			return badFlag(timeout.name, timeout.value.String(), "want a duration, such as 5s")
		}
	}
	return nil
}

// parseAdvertise parses an address. Its default port is the port of listen.
func parseAdvertise(text, listen string) (netip.AddrPort, error) {
	if text == "" {
		return netip.AddrPort{}, nil
	}
	if a, err := netip.ParseAddrPort(text); err == nil {
		return a, nil
	}
	ip, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.AddrPort{}, err
	}
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return netip.AddrPort{}, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return netip.AddrPortFrom(ip, uint16(n)), err
}

// withPort adds the default port to an address without one. A port alone is on 127.0.0.1.
func withPort(addr string) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	if isPort(addr) {
		return net.JoinHostPort("127.0.0.1", addr)
	}
	return net.JoinHostPort(strings.Trim(addr, "[]"), defaultPort)
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// isHostPort reports whether an address has a host, which may be empty, and a port that is a number or a known name.
func isHostPort(addr string) bool {
	_, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return false
	}
	_, err = net.LookupPort("tcp", port)
	return err == nil
}

// shown are the flags of the folder that are settings of Cassandra's, for system_views.settings.
func (s *settings) shown() map[string]string {
	if s.memory || s.shared() {
		return nil
	}
	shown := map[string]string{"commitlog_sync": syncModes[s.sync], "data_file_directories": "[" + s.data + "]"}
	if s.sync == disk.Periodic {
		shown["commitlog_sync_period"] = "1000ms" // --commitlog-sync says within a second
	}
	return shown
}
