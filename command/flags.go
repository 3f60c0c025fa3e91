package command

import (
	"math"
	"time"

	"github.com/spf13/pflag"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/store/engine/disk"
)

const (
	defaultPort   = "9042"
	defaultListen = "127.0.0.1:" + defaultPort
)

// syncModes are the values of --commitlog-sync.
var syncModes = []string{disk.Periodic: "periodic", disk.Batch: "batch"}

// The smallest sizes, and the longest request of the protocol.
const (
	minMemory   = 128 << 20
	minMemtable = 64 << 10
	maxRequest  = 256 << 20
)

// flags returns the flags of serve, which set s.
func (s *settings) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	f.SortFlags = false
	if s.engine != nil {
		topic(f, "Cluster", func(f *pflag.FlagSet) {
			s.engine.Reach(f)
			s.engine.Flags(f)
		})
	}
	topic(f, "Network", s.networkFlags)
	topic(f, "Storage", s.storageFlags)
	topic(f, "Authentication", s.loginFlags)
	topic(f, "TLS", s.tlsFlags)
	topic(f, "Limits", s.limitFlags)
	topic(f, "Timeouts", s.timeoutFlags)
	topic(f, "Guardrails", s.guardrailFlags)
	topic(f, "Node", s.nodeFlags)
	topic(f, "Testing", s.testFlags)
	topic(f, "Logging", s.logFlags)
	var refused []string
	if s.engine != nil {
		refused = append(refused, folderFlags...)
	}
	if s.shared() {
		refused = append(refused, "ring", "strict-replicas", "test-controls")
	}
	for _, name := range refused {
		f.Lookup(name).Hidden = true
	}
	return f
}

func (s *settings) networkFlags(f *pflag.FlagSet) {
	f.StringVar(&s.listen, "listen", defaultListen, "listen for clients at `ADDRESS`: HOST:PORT, a HOST (with port 9042) or "+
		"a PORT (on 127.0.0.1); port 0 picks a free one")
	f.StringVar(&s.given.advertise, "advertise", "", "announce `ADDRESS` to drivers as this server's; by default, the "+
		"address that each client dialled")
	f.StringVar(&s.http, "http", "", "serve the console, /health, /ready and /metrics over HTTP at `ADDRESS`; only "+
		"the console asks for a password, with --auth password")
	f.StringVar(&s.httpHost, "http-host", "", "accept HTTP requests for these host `NAMES`, separated by commas; IP addresses "+
		"and localhost are always accepted")
	f.BoolVar(&s.write, "console-write", false, "let the console of --http run all statements, not only SELECT and DESCRIBE")
	f.BoolVar(&s.httpPprof, "http-pprof", false, "serve profiles at /debug/pprof of --http")
	f.StringVar(&s.portFile, "port-file", "", "write the address as HOST:PORT to `FILE` as soon as clients are served, and "+
		"remove the file when the server stops")
}

func (s *settings) storageFlags(f *pflag.FlagSet) {
	f.StringVar(&s.data, "data", "./cqld-data", "keep the data in the folder `DIR`, which is created if it is missing")
	f.BoolVar(&s.memory, "memory", false, "keep the data in memory only: it is lost when the server ends")
	f.StringVar(&s.init, "init", "", "run the .cql and .cql.gz files of the folder `DIR`, schema.cql first and then "+
		"in the order of their names, before serving clients, unless there is data already")
	choiceFlag(f, &s.given.sync, "commitlog-sync", "periodic", syncModes, "when a write is acknowledged; `MODE` is periodic (synced to "+
		"disk within a second) or batch (synced first)")
	sizeFlag(f, &s.memtable, "memtable", "", minMemtable, 4<<30, "from 64KiB to 4GiB",
		"keep up to `SIZE` of new writes in memory before writing a table; by "+
			"default 256MiB, or 1/32 of --memory-limit if less")
	s.reserve.Reserve = disk.Reserve{Percent: 2, Most: 4 << 30}
	f.Var(&s.reserve, "disk-reserve", "refuse writes when less than `SIZE` of the volume is free: bytes such "+
		"as 10GiB or a share such as 5%; by default 2%, at most 4GiB")
	f.DurationVar(&s.purgeEvery, "purge-every", 10*time.Second, "how often to look for tombstones and expired values to purge")
	f.BoolVar(&s.repair, "repair", false, "open a folder that has damaged files, keeping what is intact; damaged files move "+
		"to its subfolder set-aside")
}

func (s *settings) loginFlags(f *pflag.FlagSet) {
	choiceFlag(f, &s.given.auth, "auth", "none", []string{"none", "password", "mtls", "mtls-or-password"},
		"how clients log in; `MODE` is none, password, mtls (by client certificate) "+
			"or mtls-or-password; all but none check permissions")
	f.BoolVar(&s.masks, "dynamic-data-masking", false, "allow masked columns; roles without UNMASK see masked values")
}

func (s *settings) tlsFlags(f *pflag.FlagSet) {
	f.StringVar(&s.certificates.certificate, "tls-cert", "", "encrypt connections with the certificate in `FILE` (PEM), "+
		"followed by intermediate certificates")
	f.StringVar(&s.certificates.key, "tls-key", "", "private key of --tls-cert, in `FILE` (PEM)")
	f.StringVar(&s.certificates.authorities, "tls-client-ca", "", "require client certificates signed by an authority in "+
		"`FILE` (PEM)")
	choiceFlag(f, &s.given.tls, "tls", "required", []string{"required", "optional"},
		"whether clients have to encrypt; `MODE` is required or optional (the port "+
			"takes both)")
}

func (s *settings) limitFlags(f *pflag.FlagSet) {
	sizeFlag(f, &s.memoryLimit, "memory-limit", "", minMemory, math.MaxInt64, "of at least 128MiB",
		"use at most `SIZE` of memory, such as 2GiB; by default GOMEMLIMIT, else "+
			"the limit of the container, else half of the machine's memory")
	sizeFlag(f, &s.limits.Memory, "client-memory", "", 16<<20, math.MaxInt64, "of at least 16MiB",
		"hold at most `SIZE` for requests and responses; by default 112MiB, or "+
			"a fifth of --memory-limit if less")
	f.IntVar(&s.limits.Connections, "max-connections", 0, "close connections beyond `N`; by default, the file descriptors "+
		"are the limit")
	f.IntVar(&s.limits.ConnectionsPerIP, "max-connections-per-ip", 0, "close connections of one address beyond `N`; by "+
		"default no limit")
	f.IntVar(&s.limits.Requests, "max-requests", 1024, "serve at most `N` blocking requests at a time; more wait")
	f.IntVar(&s.limits.Concurrent, "max-requests-per-connection", 128, "serve at most `N` requests of one connection at a "+
		"time")
	f.IntVar(&s.limits.RequestsPerSecond, "max-requests-per-second", 0, "serve at most `N` requests per second; by default "+
		"no limit")
	sizeFlag(f, &s.limits.Frame, "max-request", "16MiB", 64<<10, maxRequest, "from 64KiB to 256MiB",
		"refuse requests longer than `SIZE`")
	sizeFlag(f, &s.limits.Statement, "max-statement", "32MiB", 1<<10, maxRequest, "from 1KiB to 256MiB",
		"refuse statements whose text is longer than `SIZE`")
	f.IntVar(&s.limits.Nesting, "max-nesting", parser.DefaultLimits.Nesting, "refuse statements that nest brackets and "+
		"operators deeper than `N` levels")
}

func (s *settings) timeoutFlags(f *pflag.FlagSet) {
	f.DurationVar(&s.limits.ReadTimeout, "read-timeout", 5*time.Second, "limit of a read of partitions by their keys")
	f.DurationVar(&s.limits.RangeTimeout, "range-timeout", 10*time.Second, "limit of a page of any other read")
	f.DurationVar(&s.limits.WriteTimeout, "write-timeout", 2*time.Second, "limit of a write")
	f.DurationVar(&s.limits.CounterTimeout, "counter-timeout", 5*time.Second, "limit of a counter update")
	f.DurationVar(&s.limits.CASTimeout, "cas-timeout", 1800*time.Millisecond, "limit of a conditional write")
	f.DurationVar(&s.limits.TruncateTimeout, "truncate-timeout", time.Minute, "limit of TRUNCATE")
}

func (s *settings) guardrailFlags(f *pflag.FlagSet) {
	f.StringVar(&s.given.config, "config", "", "read guardrails and thresholds from `FILE` (YAML), by their names in "+
		"cassandra.yaml")
	f.Var(&s.given.set, "set", "set one of them, as `NAME=VALUE`; wins over --config and may be repeated")
}

func (s *settings) nodeFlags(f *pflag.FlagSet) {
	f.StringVar(&s.clusterName, "cluster-name", "Test Cluster", "`NAME` of the cluster that clients see")
	f.StringVar(&s.datacenter, "datacenter", "datacenter1", "`NAME` of the node's datacenter")
	f.StringVar(&s.rack, "rack", "rack1", "`NAME` of the node's rack")
	f.BoolVar(&s.strict, "strict-replicas", false, "count as one replica, so that higher consistency levels are "+
		"Unavailable; by default this node counts as all replicas of a keyspace")
}

func (s *settings) testFlags(f *pflag.FlagSet) {
	f.StringVar(&s.given.ring, "ring", "", "simulate several nodes; `NODES` is a number such as 3, or numbers by datacenter "+
		"and rack such as dc1=3,dc2=3 or dc1:rack1=2,dc1:rack2=1")
	f.BoolVar(&s.controls, "test-controls", false, "let every client move the clock, inject faults, take snapshots and list "+
		"statements, through keyspace cqld_control and /control/ of --http")
	f.BoolVar(&s.withParent, "with-parent", false, "stop when the process that started this one ends (not on Windows)")
}

func (s *settings) logFlags(f *pflag.FlagSet) {
	choiceFlag(f, &s.given.level, "log-level", "info", []string{"debug", "info", "warn", "error"},
		"lowest `LEVEL` to log: debug, info, warn or error")
	choiceFlag(f, &s.logFormat, "log-format", "auto", []string{"auto", "console", "json"},
		"`FORMAT` of log lines: console, json or auto (console on a terminal, "+
			"else json)")
}
