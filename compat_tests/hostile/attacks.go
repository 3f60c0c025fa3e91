package main

import (
	"context"
	"time"

	"github.com/cqld/cqld/protocol"
)

// attack is one way to overload a server.
type attack struct {
	name    string
	summary string // one line

	// run attacks until it has nothing more to do or ctx ends. Its connections stay open until the trial closes them.
	run func(ctx context.Context, s *siege) error

	// prepare stores the data of this attack, before anything is measured; nil: none. It needs a server on disk.
	prepare func(ctx context.Context, addr string, size sizes) error

	press  time.Duration // how long it may take; 0: usualPress
	within time.Duration // the bound on latency, if the attacker reads; 0: none
	fills  bool          // memory may have grown
	stop   bool          // runs again at the end, while the server is stopped
}

// fillAttack runs before all others and is harmless: it fills the tables.
var fillAttack = attack{
	name: "fill", summary: "the tables get their rows over 4 connections, 2,000 inserts at a time",
	run: func(ctx context.Context, s *siege) error { return fill(ctx, s.addr, s.size) }, press: 3 * time.Minute, fills: true,
}

// usualPress is how long most attacks go on.
const usualPress = 5 * time.Second

// attacks lists all attacks. The file named above each group has its code.
var attacks = []attack{
	{name: "nothing", summary: "no attack: only the neighbour and the machine", run: nothing},

	// Unread answers: unread.go.
	{
		name: "unread", summary: "100 clients ask 200 times for a partition, in pages of 5,000 rows, and do not read",
		run: unreadPartition(protocol.V4, 5000), press: 10 * time.Second, stop: true,
	},
	{
		name: "unread-v5", summary: "the same on protocol v5",
		run: unreadPartition(protocol.V5, 5000), press: 10 * time.Second,
	},
	{
		name: "unread-unpaged", summary: "the same without pages",
		run: unreadPartition(protocol.V4, 0), press: 10 * time.Second,
	},
	{name: "unread-small", summary: "250 clients send OPTIONS without end and do not read", run: unreadOptions},
	{name: "big-pages", summary: "64 pages of 64 rows of 1 MB for one client that does not read", run: bigPages(1, 64), stop: true},
	{name: "big-pages-64", summary: "one such page for each of 64 clients that do not read", run: bigPages(64, 1)},
	{
		name: "huge", summary: "8 clients read a partition of 2 GB without pages, twice each, and then read what comes",
		run: readHuge, prepare: fillHuge, press: 15 * time.Second,
	},
	{name: "repeated", summary: "8 clients SELECT a value of 1 MB 1,000 times in one row, and do not read", run: repeatedColumn},
	{name: "json", summary: "16 clients SELECT JSON of 64 rows of 1 MB, and do not read", run: unreadQuery(16, 4, jsonQuery)},
	{name: "in-keys", summary: "16 clients ask for 5,000 keys with rows of 20 KB by one IN, and do not read", run: inKeys},
	{name: "sorted", summary: "16 clients have 100 partitions of 50 MB sorted by ORDER BY without pages, and do not read", run: unreadQuery(16, 4, sortedQuery)},
	{
		name: "event-flood", summary: "2,000 clients register for schema changes and do not read, beside changes of the schema",
		run: concurrently(floodEvents, definitions), press: 15 * time.Second,
	},
	{name: "events", summary: "200 clients register for schema changes and do not read, beside changes of the schema", run: concurrently(unreadEvents, definitions)},

	// Statements that take long: scans.go.
	{name: "scans-16", summary: "16 scans of a table at a time on one connection", run: scans(16), press: 8 * time.Second},
	{name: "scans-128", summary: "128 of them", run: scans(128), press: 8 * time.Second, stop: true},
	{name: "scans-left", summary: "500 of them, sent by a client that leaves", run: scansLeft, press: 2 * time.Second},
	{
		name: "slices-crowd", summary: "200 clients send 500 reads of 450 rows each, which are nearly long, and read what comes, again and again",
		run: crowdOfSlices, press: 8 * time.Second, stop: true,
	},
	{
		name: "scans-crowd", summary: "200 clients send 500 scans each and read what comes",
		run: crowdOfScans, press: 10 * time.Second,
	},
	{
		name: "arithmetic", summary: "v*v*... of a hundred factors of 100,000 digits; must be over at the timeout of reads, and when the client leaves",
		run: concurrently(arithmeticOnce, arithmeticAgain), press: 9 * time.Second, within: 7 * time.Second, stop: true,
	},
	{name: "in-product", summary: "a IN ? AND b IN ? AND c IN ? of 300 values each, in requests of 7 KB", run: inProduct(inProductLists), press: 4 * time.Second},
	{name: "in-product-markers", summary: "the same with 900 markers, of clustering columns", run: inProduct(inProductMarkers), press: 4 * time.Second},
	{name: "aggregates", summary: "64 aggregates at a time over sets of 5,000 elements", run: aggregates},
	{name: "counters", summary: "50 clients add to one counter, 200 times each", run: counters},

	// Texts: texts.go.
	{name: "literal-list", summary: "4 texts of 8 MB with a list of small numbers", run: literals(4, listText)},
	{name: "literal-in", summary: "4 texts of 8 MB with an IN of small numbers", run: literals(4, inText)},
	{name: "literal-16", summary: "a list in a text of nearly 16 MiB", run: literals(1, longListText)},
	{name: "literal-unfold", summary: "20 compressed frames of 64 KB that unfold to such a text", run: unfoldLiterals},
	{name: "nested", summary: "literals, terms and types in one another 100,000 times", run: nested},
	{name: "prepared-40", summary: "40 prepared statements of 300 KB", run: prepareLong(40)},
	{name: "prepared-400", summary: "400 of them", run: prepareLong(400), press: 15 * time.Second},
	{name: "texts", summary: "400 statements of 300 KB that come as text", run: longTexts, press: 15 * time.Second},

	// Frames: frames.go.
	{name: "unfold-idle", summary: "a compressed frame of 66 KB that unfolds to 16 MiB on each of 100 connections, which then idle", run: unfoldIdle},
	{name: "unfinished-start", summary: "STARTUP of 16 MiB but for the last byte, on 250 connections", run: unfinishedStart},
	{name: "unfinished", summary: "QUERY of 16 MiB but for the last byte, on 250 connections", run: unfinished(protocol.V4), stop: true},
	{name: "too-long", summary: "16 clients send statements of 200 MB over and over", run: tooLong},
	{name: "unfinished-v5", summary: "the same in segments of protocol v5", run: unfinished(protocol.V5)},

	// Writes: writes.go.
	{name: "batches", summary: "20 clients send batches of 5,000 rows without end and do not read", run: batches},
	{name: "big-writes", summary: "16 clients write values of 8 MiB four times at a time", run: bigWrites},
	{name: "traced", summary: "4 clients send 5,000 reads with tracing", run: traced},
	{name: "definitions", summary: "8 clients create and drop tables without end", run: definitions},

	// Connections: churn.go.
	{name: "idle", summary: "5,000 connections that send STARTUP and idle", run: idle, press: 20 * time.Second},
	{name: "silent", summary: "2,000 connections that send nothing", run: silent},
	{name: "tls-idle", summary: "2,000 connections that send STARTUP through TLS and idle", run: tlsIdle, press: 20 * time.Second},
	{
		name: "handshakes", summary: "1,000 TLS handshakes that are not completed, and begin again when the server ends them",
		run: halfHandshakes, press: 10 * time.Second,
	},
	{name: "garbage", summary: "clients connect without end and send what is no frame", run: garbage},
	{name: "slow", summary: "200 clients send a request one byte every 100 ms", run: slowWriters},
	{name: "reconnect", summary: "8 clients connect, ask once and leave, 1,000 times a second", run: reconnect},

	// Several at once.
	{
		name: "together", summary: "unread, scans-128, literal-list and in-product at once",
		run:   concurrently(unreadPartition(protocol.V4, 5000), scans(128), literals(4, listText), inProduct(inProductLists)),
		press: 12 * time.Second, stop: true,
	},
}

// concurrently runs attacks at the same time.
func concurrently(runs ...func(context.Context, *siege) error) func(context.Context, *siege) error {
	return func(ctx context.Context, s *siege) error {
		failed := make(chan error, len(runs))
		for _, run := range runs {
			go func() { failed <- run(ctx, s) }()
		}
		var first error
		for range runs {
			if err := <-failed; first == nil {
				first = err
			}
		}
		return first
	}
}
