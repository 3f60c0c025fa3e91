// Command bench measures a cqld that runs as a separate process, beside a null server, which answers canned frames and
// so shows the upper limit that client and network set, and beside the Cassandra at CASSANDRA_ADDR if that is set. It
// has these parts, which -part selects, with other numbers of rows if it names them:
//
//	start      the time from exec to the first answered query, the size, and the memory of an idle server
//	growth     reads, slices, inserts and updates with ever more rows, in memory and on disk
//	sustained  a mixed load through gocql for a minute: latency, CPU time and bytes written
//	requests   many kinds of requests
//	driver     throughput through gocql
//	folders    folders with ever more rows, which are opened again
//	memory     the memory that many small rows take
//	shell      the first prompt and COPY of cqld shell, beside the cqlsh of -cqlsh
//
// A trial of 20 seconds:
//
//	go run -C compat_tests/drivers ./bench -part start,growth:20000 -seconds 0.3 -rounds 1
//
// Rounds of the servers alternate, so that other load on the machine hits all of them. raw.go and raw_works.go are the
// raw client, which leaves the processors to the server; load.go sends requests through gocql; null.go is the null
// server; the other files measure the parts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// part is a part of the page. measure writes it.
type part struct {
	name    string
	rows    []int64 // how many rows it is measured with, unless -part names others
	measure func(m *measurement, ctx context.Context, page io.Writer, rows []int64) error
}

var parts = []part{
	{"start", nil, (*measurement).reportStart},
	{"growth", []int64{100_000, 1_000_000, 4_000_000}, (*measurement).reportGrowth},
	{"sustained", []int64{2_000_000}, (*measurement).reportSustained},
	{"requests", []int64{100_000}, (*measurement).reportRequests},
	{"driver", []int64{100_000}, (*measurement).reportDriver},
	{"folders", []int64{10_000, 1_000_000, 10_000_000}, (*measurement).reportFolders},
	{"memory", []int64{1_000_000}, (*measurement).reportMemory},
	{"shell", []int64{1_000_000}, (*measurement).reportShell},
}

// measurement holds the values of the flags.
type measurement struct {
	binary string // of cqld; empty: it is built
	folder string // for binary and data
	round  time.Duration
	rounds int
	warm   time.Duration
	only   string // kinds of requests; empty: all
	parts  string // empty: all
	serve  string // more flags of cqld
	cqlsh  string // the program; empty: it is not measured
	mixFor time.Duration
	rate   int // requests per second of the sustained part; 0: as many as possible
}

func main() {
	var m measurement
	null := flag.Bool("null", false, "be the null server")
	answers := flag.String("answers", "", "of the null server: a folder with answers that cqld gave")
	seconds := flag.Float64("seconds", 2, "how long a round takes")
	flag.IntVar(&m.rounds, "rounds", 3, "how many rounds each server gets")
	flag.DurationVar(&m.warm, "warm", 15*time.Second, "how long Cassandra gets each kind of request before it is measured")
	flag.StringVar(&m.binary, "binary", "", "measure this binary instead of building one")
	flag.StringVar(&m.parts, "part", "", "measure only these `parts`: names and numbers of rows, such as start,growth:100000:1000000")
	flag.StringVar(&m.only, "only", "", "measure only these `kinds` of requests, with commas between their names")
	flag.StringVar(&m.serve, "serve", "", "more `flags` of cqld serve, with spaces between them")
	flag.DurationVar(&m.mixFor, "sustained", time.Minute, "how long the sustained part sends requests")
	flag.IntVar(&m.rate, "rate", 0, "requests per second of the sustained part; 0: as many as possible")
	flag.StringVar(&m.cqlsh, "cqlsh", os.Getenv("CQLSH"), "the `program` cqlsh, for the part shell; $CQLSH by default")
	report := flag.String("report", "", "write the page to this `file` too")
	flag.Parse()
	m.round = time.Duration(*seconds * float64(time.Second))
	run := func() error { return m.run(*report) }
	if *null {
		run = func() error { return serveNull(*answers) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the parts and prints a page with everything that could be measured.
func (m *measurement) run(report string) (err error) {
	if m.folder, err = os.MkdirTemp("", "cqld-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(m.folder)
	if m.binary == "" {
		m.binary = filepath.Join(m.folder, "cqld")
		if err := process.Build(m.binary); err != nil {
			return err
		}
	}
	page := io.Writer(os.Stdout)
	if report != "" {
		file, err := os.Create(report)
		if err != nil {
			return err
		}
		defer file.Close()
		page = io.MultiWriter(os.Stdout, file)
	}
	chosen, err := m.chosen()
	if err != nil {
		return err
	}
	m.writeHead(page)
	var failed error
	for _, p := range chosen {
		if err := p.measure(m, context.Background(), page, p.rows); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
		}
	}
	return failed
}

// chosen are the parts that are measured, with their numbers of rows.
func (m *measurement) chosen() (chosen []part, err error) {
	if m.parts == "" {
		return parts, nil
	}
	for text := range strings.SplitSeq(m.parts, ",") {
		name, numbers, _ := strings.Cut(text, ":")
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-part: there is no part %q", name)
		}
		p := parts[i]
		if numbers != "" {
			p.rows = nil
		}
		for number := range strings.FieldsFuncSeq(numbers, func(r rune) bool { return r == ':' }) {
			n, err := strconv.ParseInt(number, 10, 32)
			if err != nil || n < rawSlice {
				return nil, fmt.Errorf("-part %s: %q is not a number from %d on", name, number, rawSlice)
			}
			p.rows = append(p.rows, n)
		}
		chosen = append(chosen, p)
	}
	return chosen, nil
}

func (m *measurement) writeHead(page io.Writer) {
	fmt.Fprintf(page, `# Benchmarks

    go run -C compat_tests/drivers ./bench %s

%s on %s, %d cores, %s/%s, %s. Clients and servers share the machine.

A row has five columns of %d bytes, unless a table says otherwise. A raw client with %d connections, each with %d requests in
flight (pages, counts and nearest vectors: one), asks the servers in turn, %d rounds of %g s each: cqld in memory, cqld on disk
with its defaults, and a null server, which reads each request and writes the answer that cqld gave to the first one of its kind.
So the null server shows the limit that sockets and the client set. A real Cassandra gets each kind of request for %s before.
CPU is the server's time in µs per request, with its background work until it rests. A rate is the median of the rounds. p99 is
the time in ms in which 99 of 100 requests were answered.

`, strings.Join(os.Args[1:], " "), time.Now().UTC().Format(time.DateOnly), processorName(), runtime.NumCPU(), runtime.GOOS,
		runtime.GOARCH, runtime.Version(), cellBytes, rawConnections, rawInFlight, m.rounds, m.round.Seconds(), m.warm)
}

// processorName is the system's name for the processors.
func processorName() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processors"
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processors"
}

// wants reports whether a kind of requests is measured.
func (m *measurement) wants(name string) bool {
	return m.only == "" || slices.Contains(strings.Split(m.only, ","), name)
}
