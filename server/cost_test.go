//go:build !race

package server_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

var updateCosts = flag.Bool("update-costs", false, "write what requests cost to testdata/costs.txt")

// costsFile has a line for each path: its name, allocations of a request, and instructions of a request in user space;
// "-" where nobody could count them. They are what the server and an encoded client take, in memory.
const costsFile = "testdata/costs.txt"

// How much more or less than the committed figure a cost may be: a twentieth, and besides what rounding and the
// runtime's own work make of a few allocations.
const (
	costTolerance   = 0.05
	allocationSlack = 0.25
)

// cost is what a request of one path takes.
type cost struct {
	path                      string
	allocations, instructions float64 // 0 instructions: not counted
}

// TestCosts holds allocations and instructions of eight paths within a twentieth of the committed figures, in both
// directions: who makes a path cheaper commits the new figure with -update-costs.
func TestCosts(t *testing.T) {
	c := costClient(t)
	counter, err := countInstructions()
	if err != nil {
		t.Logf("instructions are not counted here: %v", err)
	} else {
		defer counter.close()
	}
	var measured []cost
	for _, p := range costPaths {
		measured = append(measured, costOf(t, c, p, counter))
	}
	if *updateCosts {
		writeCosts(t, measured)
		return
	}
	committed := readCosts(t)
	if len(committed) != len(measured) {
		t.Fatalf("%s has %d paths, want %d", costsFile, len(committed), len(measured))
	}
	t.Run("allocations", func(t *testing.T) {
		for i, got := range measured {
			want := committed[i]
			t.Logf("%-20s %6.2f, committed %.2f", got.path, got.allocations, want.allocations)
			off := got.allocations - want.allocations
			if got.path != want.path || max(off, -off) > want.allocations*costTolerance+allocationSlack {
				t.Errorf("%s: %.2f allocations, and for %s %.2f are committed", got.path, got.allocations, want.path, want.allocations)
			}
		}
	})
	t.Run("instructions", func(t *testing.T) {
		if counter == nil || committed[0].instructions == 0 {
			t.Skip("this gate did not run: instructions cannot be counted here, or no figures are committed")
		}
		for i, got := range measured {
			want := committed[i]
			t.Logf("%-20s %.0f, committed %.0f", got.path, got.instructions, want.instructions)
			if off := got.instructions - want.instructions; max(off, -off) > want.instructions*costTolerance {
				t.Errorf("%s: %.0f instructions, and %.0f are committed", got.path, got.instructions, want.instructions)
			}
		}
	})
}

// costPath is a kind of request.
type costPath struct {
	name  string
	burst int16 // requests that are sent at once
	text  string
	batch int // statements of a logged batch; 0: it is none
	page  int32
	more  []types.Value // behind a new key or an old one
	fresh bool          // the key is new
}

var (
	costCell  = types.Value{Bytes: bytes.Repeat([]byte{'x'}, 100)}
	costCells = []types.Value{costCell, costCell, costCell, costCell, costCell}

	shortCell  = types.Value{Bytes: []byte("a batch that long has no warning")}
	shortCells = []types.Value{shortCell, shortCell, shortCell, shortCell, shortCell}
)

const (
	costInsert = "INSERT INTO ks.wide (k, a, b, c, d, e) VALUES (?, ?, ?, ?, ?, ?)"
	costRows   = 2000 // of the table of partitions, 100 in each
)

var costPaths = []costPath{
	{name: "read", burst: 64, text: "SELECT a, b, c, d, e FROM ks.wide WHERE k = ?"},
	{name: "insert", burst: 64, text: costInsert, more: costCells, fresh: true},
	{name: "update", burst: 64, text: "UPDATE ks.wide SET a = 0x01 WHERE k = ?"},
	{name: "overwrite", burst: 64, text: costInsert, more: costCells},
	{name: "slice of 100", burst: 8, text: "SELECT a, b, c, d, e FROM ks.part WHERE k = ?"},
	{name: "conditional insert", burst: 64, text: costInsert + " IF NOT EXISTS", more: costCells, fresh: true},
	{name: "logged batch of 10", burst: 16, text: costInsert, batch: 10, more: shortCells, fresh: true},
	{name: "scan, page of 1,000", burst: 1, text: "SELECT a, b, c, d, e FROM ks.part", page: 1000},
}

// costClient connects to a server with the tables of the paths.
func costClient(t *testing.T) *client.Conn {
	t.Helper()
	s := cqltest.RunT(t)
	c, err := client.Dial(t.Context(), s.Addr(), client.Options{Version: protocol.V4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	run := func(text string, values ...types.Value) {
		if _, err := c.Query(t.Context(), text, values, nil); err != nil {
			t.Fatal(err)
		}
	}
	run(createKeyspace)
	run("CREATE TABLE ks.wide (k int PRIMARY KEY, a blob, b blob, c blob, d blob, e blob)")
	run("CREATE TABLE ks.part (k int, r int, a blob, b blob, c blob, d blob, e blob, PRIMARY KEY (k, r))")
	run(costInsert, append([]types.Value{intValue(1)}, costCells...)...)
	for i := range costRows {
		run("INSERT INTO ks.part (k, r, a, b, c, d, e) VALUES (?, ?, ?, ?, ?, ?, ?)",
			append([]types.Value{intValue(i / 100), intValue(i % 100)}, costCells...)...)
	}
	return c
}

// request makes a request of a path.
func (p *costPath) request(id []byte, key types.Value) protocol.Request {
	values := append([]types.Value{key}, p.more...)
	if p.batch > 0 {
		m := &protocol.Batch{Type: protocol.LoggedBatch}
		m.Parameters.Consistency = cqlerr.One
		for range p.batch {
			m.Children = append(m.Children, protocol.BatchChild{Prepared: true, ID: id, Values: values})
		}
		return m
	}
	m := &protocol.Execute{ID: id}
	m.Parameters.Consistency, m.Parameters.Flags = cqlerr.One, protocol.SkipMetadata
	if p.page > 0 {
		m.Parameters.PageSize, m.Parameters.Flags = p.page, m.Parameters.Flags|protocol.WithPageSize
		return m
	}
	m.Parameters.Values, m.Parameters.Flags = values, m.Parameters.Flags|protocol.WithValues
	return m
}

// costOf measures a path several times. The least instructions count, because what else goes on only adds, and the
// median of allocations: the server may take more or fewer requests together when the machine has other work.
func costOf(t *testing.T, c *client.Conn, p costPath, counter *instructionCounter) cost {
	t.Helper()
	prepared, err := c.Prepare(t.Context(), p.text, "")
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	key := intValue(1)
	if p.fresh {
		key = types.Value{Bytes: binary.BigEndian.AppendUint32(nil, lastKey)}
	}
	m := p.request(prepared.ID, key)
	var requests []byte
	for i := range p.burst {
		requests = protocol.AppendRequest(requests, protocol.Header{Version: protocol.V4, Stream: i}, nil, m)
	}
	var keys [][]byte
	if p.fresh {
		keys = append(occurrences(requests, key.Bytes), key.Bytes)
		renew(keys)
	}
	first := protocol.AppendRequest(nil, protocol.Header{Version: protocol.V4}, nil, m)
	if err := c.SendEnvelope(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	header, body, err := c.ReceiveEnvelope(t.Context())
	if err != nil || header.Opcode != protocol.OpResult {
		t.Fatalf("%s: the answer is a %v, %v", p.name, header.Opcode, err)
	}
	answers := make([]byte, int(p.burst)*(protocol.HeaderSize+len(body)))
	const samples = 7
	taken := cost{path: p.name}
	var allocated []float64
	var before, after runtime.MemStats
	for sample := range samples {
		bursts := 1 + 512/int(p.burst)/max(1, p.batch)
		if p.burst < 64 && p.batch == 0 {
			bursts = 32
		}
		runtime.ReadMemStats(&before)
		began := counter.read()
		for range bursts {
			renew(keys)
			exchange(t, c.NetConn(), requests, answers)
		}
		ended := counter.read()
		runtime.ReadMemStats(&after)
		n := float64(bursts) * float64(p.burst)
		allocated = append(allocated, float64(after.Mallocs-before.Mallocs)/n)
		if instructions := float64(ended-began) / n; sample == 0 || instructions < taken.instructions {
			taken.instructions = instructions
		}
	}
	slices.Sort(allocated)
	taken.allocations = allocated[samples/2]
	return taken
}

func readCosts(t *testing.T) (all []cost) {
	t.Helper()
	b, err := os.ReadFile(costsFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		x := cost{path: fields[0]}
		if len(fields) != 3 {
			t.Fatalf("%s: %q", costsFile, line)
		}
		for i, to := range []*float64{&x.allocations, &x.instructions} {
			if fields[i+1] == "-" {
				continue
			}
			if _, err := fmt.Sscan(fields[i+1], to); err != nil {
				t.Fatalf("%s: %q", costsFile, line)
			}
		}
		all = append(all, x)
	}
	return all
}

func writeCosts(t *testing.T, all []cost) {
	t.Helper()
	var b strings.Builder
	for _, x := range all {
		instructions := "-"
		if x.instructions > 0 {
			instructions = fmt.Sprintf("%.0f", x.instructions)
		}
		fmt.Fprintf(&b, "%s\t%.2f\t%s\n", x.path, x.allocations, instructions)
	}
	if err := os.WriteFile(costsFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
}
