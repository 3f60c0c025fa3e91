package command

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store/engine/disk"
)

const (
	defaultPort   = "9042"
	defaultListen = "127.0.0.1:" + defaultPort
	envPrefix     = "CQLD_"
)

// settings are the values of the flags of serve.
type settings struct {
	listen      string
	advertise   netip.AddrPort // zero: the address that each client dialled
	data        string
	memory      bool
	repair      bool
	ends        bool  // the process ends with the command
	memoryLimit int64 // 0: what boundMemory finds out
	memtable    int64
	filter      int64
	tombstones  int64
	reserve     disk.Reserve
	sync        disk.Sync
	purgeEvery  time.Duration
	clusterName string
	datacenter  string
	rack        string
	strict      bool
	ring        []server.RingNode // none: one node
	level       zerolog.Level
	logFormat   string
	http        string // "": no HTTP
	httpHost    string // names of this server, with commas between them
	httpPprof   bool
	init        string // the folder of scripts for a server without data; "": none
	limits      server.Limits
	guardrails  *guardrail.Settings

	logins bool                 // clients log in
	login  server.Authenticator // how they do
	masks  bool                 // columns may be masked

	certificates certificateFiles // of TLS; none: connections are not encrypted
	optionalTLS  bool

	controls bool // clients may control the clock, faults and more

	engine  *Engine      // in place of those of a folder and of memory, or nil
	calls   *engineCalls // of that engine, when it is open
	release string       // that other nodes see

	told []string // warnings for the log

	given struct { // flags as they are given
		advertise, sync, level, memory, memtable, config, auth, ring, tls, limit, request, statement, reserve string
		set                                                                                                   assignments
	}
}

// logFormats are the values of --log-format; auto is console on a terminal and json elsewhere.
var logFormats = []string{"auto", "console", "json"}

// syncModes are the values of --commitlog-sync.
var syncModes = []string{disk.Periodic: "periodic", disk.Batch: "batch"}

// serveFlags makes the flags of serve, which set s.
func serveFlags(s *settings) *flag.FlagSet {
	f := newFlags("serve")
	f.StringVar(&s.listen, "listen", defaultListen, "the `address` clients connect to; port 0 takes a free one")
	f.StringVar(&s.given.advertise, "advertise", "", "the `address` that system.local tells clients; "+
		"empty: what each client dialled")
	f.StringVar(&s.data, "data", "./cqld-data", "the `folder` that keeps the data")
	f.BoolVar(&s.memory, "memory", false, "keep the data in memory only")
	f.BoolVar(&s.repair, "repair", false, "open a folder with damaged files with what can be kept of them; "+
		"they are set aside in it")
	f.StringVar(&s.given.sync, "commitlog-sync", "periodic", "the `mode` of acknowledging writes: "+
		"periodic before they are on disk, where they are within a second, or batch when they are")
	f.StringVar(&s.given.memtable, "memtable", "", "how many `bytes` of what was written are in memory before they go to "+
		"tables, like 64MiB; empty: 64MiB, or a thirty-second of --memory-limit")
	f.StringVar(&s.given.reserve, "disk-reserve", "", "how much of the volume writes leave free: `bytes` like 10GiB, or a "+
		"share like 5%; empty: 2%, but at most 4GiB")
	f.DurationVar(&s.purgeEvery, "purge-every", 10*time.Second, "the `time` between looks for what may be purged")
	f.StringVar(&s.clusterName, "cluster-name", "Test Cluster", "the cluster's `name` in system.local")
	f.StringVar(&s.datacenter, "datacenter", "datacenter1", "the datacenter's `name`")
	f.StringVar(&s.rack, "rack", "rack1", "the rack's `name`")
	f.BoolVar(&s.strict, "strict-replicas", false, "answer Unavailable where a consistency level needs more replicas "+
		"than one node is; otherwise the node stands for all that a keyspace asks for")
	f.StringVar(&s.given.ring, "ring", "", "stand for several `nodes`, like dc1=3,dc2=3, or with racks "+
		"dc1:rack1=2,dc1:rack2=1: the first one at --listen, the others at the addresses behind it; empty: one node")
	f.StringVar(&s.given.level, "log-level", "info", "the least `level` to log: debug, info, warn or error")
	f.StringVar(&s.logFormat, "log-format", "auto", "auto, console or json: the `format` of log lines")
	f.StringVar(&s.http, "http", "", "serve /health and /metrics at this `address`; empty: do not")
	f.StringVar(&s.httpHost, "http-host", "", "host `names` that requests over HTTP may be sent to besides localhost and "+
		"IP addresses, with commas between them")
	f.BoolVar(&s.httpPprof, "http-pprof", false, "serve profiles over HTTP too, at /debug/pprof")
	f.BoolVar(&s.controls, "test-controls", false, "for tests: let every client move the clock, have requests fail, take "+
		"snapshots and see statements, by the tables of keyspace cqld_control and below /control/ of --http")
	f.StringVar(&s.init, "init", "", "a `folder` whose files that end in .cql and .cql.gz are run, in the order of their "+
		"names, before clients are served; only where there is no data yet")
	f.StringVar(&s.given.auth, "auth", "none", "how clients `log in`: none for everybody who can connect; for roles "+
		"and permissions password, mtls for the identity in their certificate, or mtls-or-password")
	f.StringVar(&s.certificates.certificate, "tls-cert", "", "a `file` in PEM with the server's certificate and those of "+
		"authorities between it and what clients trust; empty: connections are not encrypted")
	f.StringVar(&s.certificates.key, "tls-key", "", "a `file` in PEM with its key")
	f.StringVar(&s.certificates.authorities, "tls-client-ca", "", "a `file` in PEM with the authorities that have to "+
		"have signed the certificate of a client; empty: clients need none")
	f.StringVar(&s.given.tls, "tls", "required", "required or optional, `which` lets clients connect without TLS as well")
	f.BoolVar(&s.masks, "dynamic-data-masking", false, "columns may be masked, and are for roles that lack UNMASK")
	f.StringVar(&s.given.limit, "memory-limit", "", "how many `bytes` the process may take, which are divided among its "+
		"parts; empty: GOMEMLIMIT, or what the control group allows, or half of the machine")
	f.StringVar(&s.given.memory, "client-memory", "", "how many `bytes` are held for clients, like 256MiB; empty: 112MiB, "+
		"or a fifth of --memory-limit")
	f.IntVar(&s.limits.Connections, "max-connections", 0, "how many `connections` may be open; 0: as many as there are "+
		"file descriptors for")
	f.IntVar(&s.limits.ConnectionsPerIP, "max-connections-per-ip", 0, "how many `connections` may be open from one "+
		"address; 0: any number")
	f.IntVar(&s.limits.Requests, "max-requests", 1024, "how many `requests` are served at a time that have to wait for "+
		"something")
	f.IntVar(&s.limits.Concurrent, "max-requests-per-connection", 128, "how many `requests` of one connection are")
	f.IntVar(&s.limits.RequestsPerSecond, "max-requests-per-second", 0, "how many `requests` are served in a second; "+
		"0: any number")
	f.StringVar(&s.given.request, "max-request", "16MiB", "how many `bytes` a request may have")
	f.StringVar(&s.given.statement, "max-statement", "32MiB", "how many `bytes` the text of a statement may have")
	f.IntVar(&s.limits.Nesting, "max-nesting", parser.DefaultLimits.Nesting, "how many `levels` of brackets and "+
		"operators a statement may have")
	f.DurationVar(&s.limits.ReadTimeout, "read-timeout", 5*time.Second,
		"the `time` that a read of partitions by their keys may take")
	f.DurationVar(&s.limits.RangeTimeout, "range-timeout", 10*time.Second,
		"the `time` that a read of many partitions may take")
	f.DurationVar(&s.limits.WriteTimeout, "write-timeout", 2*time.Second, "the `time` that a client waits for a write")
	f.StringVar(&s.given.config, "config", "", "a `file` like cqld.yaml with settings by the names of cassandra.yaml")
	f.Var(&s.given.set, "set", "`name=value`: a setting by its name in cassandra.yaml, in place of that in --config; "+
		"may be given several times")
	f.DurationVar(&s.limits.CounterTimeout, "counter-timeout", 5*time.Second,
		"the `time` that a client waits for a change of a counter")
	f.DurationVar(&s.limits.CASTimeout, "cas-timeout", 1800*time.Millisecond,
		"the `time` that a client waits for a conditional write")
	f.DurationVar(&s.limits.TruncateTimeout, "truncate-timeout", time.Minute,
		"the `time` that a client waits for TRUNCATE")
	if s.engine != nil {
		s.engine.Flags(f)
	}
	return f
}

// folderFlags are about the data of a single process, or ask whether there is any.
var folderFlags = []string{"data", "memory", "repair", "commitlog-sync", "memtable", "disk-reserve", "init"}

// checkFolder refuses flags about a folder for a server that has none.
func checkFolder(f *flag.FlagSet) (err error) {
	f.Visit(func(given *flag.Flag) {
		if slices.Contains(folderFlags, given.Name) {
			err = badFlag(given.Name, given.Value.String(), "this server keeps no data of its own")
		}
	})
	return err
}

// readSettings parses the flags of serve. A flag that is not given takes its value from the environment.
func readSettings(c *console, args []string) (*settings, error) {
	s := &settings{engine: c.engine}
	f := serveFlags(s)
	if err := parse(f, c, args); err != nil {
		return nil, err
	}
	if s.engine != nil {
		if err := checkFolder(f); err != nil {
			return nil, err
		}
		s.memory = true // there is no folder
		s.release = c.buildVersion()
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%w: serve takes no argument %q", errUsage, f.Arg(0))
	}
	var err error
	if s.told, err = cassandraEnv(f, c.getenv); err != nil {
		return nil, err
	}
	s.listen = withPort(s.listen)
	if err := errors.Join(s.check(), s.checkLimits()); err != nil {
		return s, err
	}
	s.guardrails, err = readGuardrails(s.given.config, s.given.set)
	return s, err
}

// check checks and converts the values of flags.
func (s *settings) check() error {
	var err error
	advertise, sync, level := s.given.advertise, s.given.sync, s.given.level
	if _, _, err = net.SplitHostPort(s.listen); err != nil {
		return badFlag("listen", s.listen, err.Error())
	}
	if s.advertise, err = parseAdvertise(advertise, s.listen); err != nil {
		return badFlag("advertise", advertise, "want an IP address, with or without a port")
	}
	if s.level, err = zerolog.ParseLevel(level); err != nil || level == "" {
		return badFlag("log-level", level, "want debug, info, warn or error")
	}
	mode := slices.Index(syncModes, sync)
	if mode < 0 {
		return badFlag("commitlog-sync", sync, "want "+strings.Join(syncModes, " or "))
	}
	s.sync = disk.Sync(mode)
	if !slices.Contains(logFormats, s.logFormat) {
		return badFlag("log-format", s.logFormat, "want "+strings.Join(logFormats, ", "))
	}
	if err := s.checkLogins(); err != nil {
		return err
	}
	if err := s.checkRing(); err != nil {
		return err
	}
	if err := s.checkHTTP(); err != nil {
		return err
	}
	if err := s.checkShared(); err != nil {
		return err
	}
	if s.purgeEvery <= 0 {
		return badFlag("purge-every", s.purgeEvery.String(), "want a time, like 10s")
	}
	if !s.memory && s.data == "" {
		return badFlag("data", s.data, "want a folder")
	}
	return nil
}

// checkRing reads the nodes of the ring, and refuses flags that do not go with it.
func (s *settings) checkRing() (err error) {
	text := s.given.ring
	if text == "" {
		return nil
	}
	if s.ring, err = server.ParseRing(text); err != nil {
		return fmt.Errorf("%w: --ring %w", errUsage, err)
	}
	for name, given := range map[string]bool{
		"advertise": s.given.advertise != "", "strict-replicas": s.strict,
		"datacenter": s.datacenter != "datacenter1", "rack": s.rack != "rack1",
	} {
		if given {
			return badFlag("ring", text, "does not go with --"+name)
		}
	}
	return nil
}

// checkLogins checks and converts the flags of logins and of TLS.
func (s *settings) checkLogins() error {
	if login, ok := authenticators[s.given.auth]; ok {
		s.logins, s.login = true, login
	} else if s.given.auth != "none" {
		return badFlag("auth", s.given.auth, "want none, password, mtls or mtls-or-password")
	}
	f := &s.certificates
	switch {
	case (f.certificate == "") != (f.key == ""):
		return fmt.Errorf("%w: --tls-cert and --tls-key belong together", errUsage)
	case f.authorities != "" && f.certificate == "":
		return badFlag("tls-client-ca", f.authorities, "it needs --tls-cert and --tls-key")
	case s.login != server.ByPassword && f.authorities == "":
		return badFlag("auth", s.given.auth, "it needs --tls-cert, --tls-key and --tls-client-ca")
	case s.login == server.ByCertificate && s.given.tls != "required":
		return badFlag("auth", s.given.auth, "it needs --tls required")
	case s.login == server.ByCertificate && s.init != "":
		return badFlag("init", s.init, "does not go with --auth mtls: the scripts are run by a role that logs in with a password")
	case s.given.tls != "required" && s.given.tls != "optional":
		return badFlag("tls", s.given.tls, "want required or optional")
	}
	s.optionalTLS = s.given.tls == "optional"
	return nil
}

// authenticators are the values of --auth that have clients log in.
var authenticators = map[string]server.Authenticator{
	"password":         server.ByPassword,
	"mtls":             server.ByCertificate,
	"mtls-or-password": server.ByCertificateOrPassword,
}

// checkLimits checks and converts the limits of clients.
func (s *settings) checkLimits() error {
	if err := s.checkSizes(); err != nil {
		return err
	}
	for _, count := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"max-connections", s.limits.Connections, 0, math.MaxInt32},
		{"max-connections-per-ip", s.limits.ConnectionsPerIP, 0, math.MaxInt32},
		{"max-requests", s.limits.Requests, 1, math.MaxInt32},
		{"max-requests-per-connection", s.limits.Concurrent, 1, math.MaxInt16},
		{"max-requests-per-second", s.limits.RequestsPerSecond, 0, math.MaxInt32},
		{"max-nesting", s.limits.Nesting, 10, parser.DefaultLimits.Nesting},
	} {
		if count.value < count.least || count.value > count.most {
			return badFlag(count.name, strconv.Itoa(count.value),
				fmt.Sprintf("want a number from %d to %d", count.least, count.most))
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
			return badFlag(timeout.name, timeout.value.String(), "want a time, like 5s")
		}
	}
	return nil
}

// checkSizes checks and converts the flags that are numbers of bytes.
func (s *settings) checkSizes() error {
	var request, statement int64
	for _, size := range []struct {
		name, text  string
		value       *int64
		least, most int64
		want        string
	}{
		{"memory-limit", s.given.limit, &s.memoryLimit, minMemory, math.MaxInt64, "of at least 128MiB"},
		{"client-memory", s.given.memory, &s.limits.Memory, minClientMemory, math.MaxInt64, "of at least 16MiB"},
		{"memtable", s.given.memtable, &s.memtable, minMemtable, maxMemtable, "from 64KiB to 4GiB"},
		{"max-request", s.given.request, &request, minRequest, maxRequest, "from 64KiB to 256MiB"},
		{"max-statement", s.given.statement, &statement, minStatement, maxRequest, "from 1KiB to 256MiB"},
	} {
		if size.text == "" {
			continue
		}
		n, err := parseBytes(size.text)
		if err != nil || n < size.least || n > size.most {
			return badFlag(size.name, size.text, "want a number of bytes "+size.want)
		}
		*size.value = n
	}
	s.limits.Frame, s.limits.Statement = int(request), int(statement)
	return s.checkReserve()
}

// usualReserve is what is left free of a volume.
var usualReserve = disk.Reserve{Percent: 2, Most: 4 << 30}

// checkReserve checks and converts --disk-reserve.
func (s *settings) checkReserve() (err error) {
	text := s.given.reserve
	if text == "" {
		s.reserve = usualReserve
		return nil
	}
	if number, ok := strings.CutSuffix(text, "%"); ok {
		s.reserve.Percent, err = strconv.ParseFloat(number, 64)
		if err != nil || !(s.reserve.Percent > 0 && s.reserve.Percent <= 100) {
			return badFlag("disk-reserve", text, "want a share from 0% to 100%")
		}
		return nil
	}
	if s.reserve.Bytes, err = parseBytes(text); err != nil {
		return badFlag("disk-reserve", text, "want bytes, like 10GiB, or a share, like 5%")
	}
	return nil
}

// The least and the most that sizes may be. The protocol has no requests that are longer than maxRequest.
const (
	minMemory       = 128 << 20
	minClientMemory = 16 << 20
	minMemtable     = 64 << 10
	maxMemtable     = 4 << 30
	minRequest      = 64 << 10
	maxRequest      = 256 << 20
	minStatement    = 1 << 10
)

// parseBytes reads a number of bytes, with or without one of the units that Go's runtime takes in GOMEMLIMIT.
func parseBytes(text string) (int64, error) {
	shift := 0
	for i, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			text, shift = number, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(text, "B"), 10, 64)
	if err == nil && (n < 0 || n > math.MaxInt64>>shift) {
		err = strconv.ErrRange
	}
	return n << shift, err
}

// parseAdvertise reads an address; without a port it gets that of listen.
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

func badFlag(name, value, reason string) error {
	return fmt.Errorf("%w: --%s %q: %s", errUsage, name, value, reason)
}

// newFlags makes a flag set that prints nothing on its own.
func newFlags(command string) *flag.FlagSet {
	f := flag.NewFlagSet("cqld "+command, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {} // the flag package would call it after a mistake too
	return f
}

// printFlags lists the flags of a command.
func printFlags(f *flag.FlagSet, c *console) {
	var lines strings.Builder
	example := ""
	f.VisitAll(func(one *flag.Flag) {
		value, text := flag.UnquoteUsage(one)
		if value != "" {
			value = " " + value
		}
		if one.DefValue != "" && one.DefValue != "false" {
			text += " (default " + one.DefValue + ")"
		}
		dashes := "-"
		if len(one.Name) > 1 {
			dashes = "--"
			example = cmp.Or(example, one.Name)
		}
		fmt.Fprintf(&lines, "  %s%s%s\n        %s\n", dashes, one.Name, value, text)
	})
	fmt.Fprintf(c.stdout, "Flags of %s, each also read from the environment: --%s from %s.\n\n%s",
		f.Name(), example, envName(example), lines.String())
}

// parse reads the environment, then the command line, which wins.
func parse(f *flag.FlagSet, c *console, args []string) error {
	var fromEnv error
	f.VisitAll(func(one *flag.Flag) {
		if v := c.getenv(envName(one.Name)); v != "" && fromEnv == nil {
			if err := f.Set(one.Name, v); err != nil {
				fromEnv = fmt.Errorf("%w: %s=%q: %w", errUsage, envName(one.Name), v, err)
			}
		}
	})
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		printFlags(f, c)
		return err
	case fromEnv != nil:
		return fromEnv
	case err != nil:
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return nil
}

// envName is the environment's name of a flag: CQLD_LOG_LEVEL for --log-level.
func envName(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// withPort adds CQL's port to an address that has none.
func withPort(addr string) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(strings.Trim(addr, "[]"), defaultPort)
}
