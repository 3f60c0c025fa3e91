package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/protocol/client"
)

// The tests of this file damage data folders that a server has left, and compare the rows that a server then serves
// with a model, before and after --repair.

// rowKey is the primary key of a row of k.t.
type rowKey struct{ p, c int }

// damagedFolder is the image of a folder, with the rows that a model says it has.
type damagedFolder struct {
	dir   string
	rows  map[rowKey][]int // the values of v that each row of k.t had, the last one at the end; -1: it was deleted
	blobs int              // rows of k.b, whose values are long
	batch int              // the maximum number of rows that a commit writes

	foreign bool // a file of another folder was put into a copy: it has to open, and values are not compared
}

// now is what a row should have, or -1.
func (d *damagedFolder) now(key rowKey) int { return d.rows[key][len(d.rows[key])-1] }

// tryServe runs a server on a folder. If it does not start, addr is "" and stop returns its log.
func tryServe(t *testing.T, dir string, args ...string) (addr string, stop func() string) {
	t.Helper()
	addr, _, stop = tryServeLogged(t, dir, args...)
	return addr, stop
}

// tryServeLogged is tryServe with the log of the server.
func tryServeLogged(t *testing.T, dir string, args ...string) (addr string, log *lockedBuffer, stop func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	log = new(lockedBuffer)
	c := &console{stdin: strings.NewReader(""), stdout: log, stderr: log, getenv: func(string) string { return "" }}
	ended := make(chan int, 1)
	go func() {
		first := []string{"serve", "--listen", "127.0.0.1:0", "--data", dir, "--memtable", "1MiB"}
		args = slices.Concat(first, []string{"--log-format", "json", "--log-level", "debug"}, args)
		ended <- run(ctx, c, args)
		close(ended)
	}()
	stop = func() string {
		cancel()
		for range ended {
		}
		return log.String()
	}
	line := regexp.MustCompile(`listening for CQL clients on /([0-9.:]+)`)
	for {
		select {
		case <-ended:
			return "", log, stop
		case <-time.After(time.Millisecond):
		}
		if m := line.FindStringSubmatch(log.String()); m != nil {
			return m[1], log, stop
		}
	}
}

// connectTo connects to a server until the test ends.
func connectTo(t *testing.T, addr string) *client.Conn {
	t.Helper()
	c, err := client.Dial(t.Context(), addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// copyFolderOf copies a folder of a server that is idle, or has stopped.
func copyFolderOf(t *testing.T, from string) (to string) {
	t.Helper()
	to = t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// makeFolder makes the folder of a server that has stopped, or that was killed, with n rows.
func makeFolder(t *testing.T, n int, kill bool) *damagedFolder {
	t.Helper()
	d := &damagedFolder{rows: map[rowKey][]int{}, batch: 20}
	dir := filepath.Join(t.TempDir(), "data")
	begin := func() (do func(text string), stop func() string) {
		addr, stop := tryServe(t, dir)
		if addr == "" {
			t.Fatal(stop())
		}
		c := connectTo(t, addr)
		return func(text string) {
			t.Helper()
			if _, err := c.Query(t.Context(), text, nil, nil); err != nil {
				t.Fatalf("%.100s: %v", text, err)
			}
		}, stop
	}
	do, stop := begin()
	do("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	do("CREATE TABLE k.t (p int, c int, v int, pad text, PRIMARY KEY (p, c))")
	do("CREATE INDEX ON k.t (v)")
	do("CREATE MATERIALIZED VIEW k.m AS SELECT * FROM k.t WHERE v IS NOT NULL AND p IS NOT NULL AND c IS NOT NULL " +
		"PRIMARY KEY (v, p, c)")
	do("CREATE TABLE k.b (p int PRIMARY KEY, v blob)")
	random := rand.New(rand.NewPCG(1, 2))
	write := func(from, to int) {
		for i := from; i < to; i += d.batch {
			text, batch := "BEGIN UNLOGGED BATCH ", map[rowKey]bool{}
			for j := i; j < min(i+d.batch, to); j++ {
				key := rowKey{j % 50, random.IntN(n / 50)}
				if _, again := batch[key]; again {
					continue // a batch has one timestamp
				}
				batch[key] = true
				if random.IntN(5) == 0 {
					text += fmt.Sprintf("DELETE FROM k.t WHERE p = %d AND c = %d; ", key.p, key.c)
					d.rows[key] = append(d.rows[key], -1)
					continue
				}
				v := random.IntN(100)
				d.rows[key] = append(d.rows[key], v)
				pad := strings.Repeat("p", 50+random.IntN(100))
				text += fmt.Sprintf("INSERT INTO k.t (p, c, v, pad) VALUES (%d, %d, %d, '%s'); ", key.p, key.c, v, pad)
			}
			do(text + "APPLY BATCH")
		}
		for range max(2, n/1500) {
			do(fmt.Sprintf("INSERT INTO k.b (p, v) VALUES (%d, 0x%x)", d.blobs, bytes.Repeat([]byte{byte(d.blobs + 1)}, 700<<10)))
			d.blobs++
		}
	}
	write(0, n/2)
	stop()
	do, stop = begin()
	write(n/2, n*3/4)
	stop()
	do, stop = begin()
	write(n*3/4, n)
	if kill {
		d.dir = copyFolderOf(t, dir)
		stop()
		return d
	}
	stop()
	d.dir = copyFolderOf(t, dir)
	return d
}

// served is what a server serves.
type served struct {
	rows  map[rowKey]int
	blobs map[int]bool
}

// readAll reads all rows, or returns the error of a read.
func readAll(t *testing.T, addr string, blobs int) (s served, err error) {
	t.Helper()
	c := connectTo(t, addr)
	s = served{map[rowKey]int{}, map[int]bool{}}
	number := func(b []byte) int { return int(int32(binary.BigEndian.Uint32(b))) }
	result, err := c.Query(t.Context(), "SELECT p, c, v FROM k.t", nil, nil)
	if err != nil {
		return s, err
	}
	for _, r := range result.Rows {
		s.rows[rowKey{number(r[0]), number(r[1])}] = number(r[2])
	}
	for p := range blobs {
		result, err := c.Query(t.Context(), fmt.Sprint("SELECT v FROM k.b WHERE p = ", p), nil, nil)
		if err != nil {
			return s, err
		}
		for _, r := range result.Rows {
			s.blobs[p] = len(r[0]) == 700<<10 && r[0][0] == byte(p+1)
		}
	}
	return s, nil
}

// compared counts the rows that differ from the model.
type compared struct{ missing, back int }

func (d *damagedFolder) compare(t *testing.T, s served) (c compared) {
	t.Helper()
	if d.foreign {
		return c
	}
	for key := range d.rows {
		want := d.now(key)
		got, ok := s.rows[key]
		switch {
		case !ok && want >= 0:
			c.missing++
		case ok && got != want:
			c.back++
			if !slices.Contains(d.rows[key], got) {
				t.Errorf("the row %v has the value %d, which it never had", key, got)
			}
		}
	}
	for key := range s.rows {
		if d.rows[key] == nil {
			t.Errorf("there is a row %v, which was never written", key)
		}
	}
	c.missing += d.blobs - len(s.blobs)
	return c
}

// repairNotes are what a repair has logged.
type repairNotes struct {
	rows, commits int
	unknown       bool // rows are lost whose number is not known
}

func readNotes(log string) (n repairNotes) {
	for line := range strings.Lines(log) {
		var l struct {
			Message string
			Rows    *int `json:"rows_at_most"`
			Commits int
		}
		if json.Unmarshal([]byte(line), &l) != nil {
			continue
		}
		n.commits += l.Commits
		if strings.HasPrefix(l.Message, "rows are lost") {
			if l.Rows == nil {
				n.unknown = true
			} else {
				n.rows += *l.Rows
			}
		}
	}
	return n
}

// tryFolder opens a damaged copy of a folder: it serves all rows, or is refused with what to do. Then it is repaired,
// and everything that is missing is in the log. It returns what happened.
func (d *damagedFolder) tryFolder(t *testing.T, damage func(dir string)) string {
	t.Helper()
	dir := copyFolderOf(t, d.dir)
	damage(dir)
	addr, running, stop := tryServeLogged(t, dir)
	for addr != "" && !strings.Contains(running.String(), "all tables were scrubbed") &&
		!strings.Contains(running.String(), "the data is damaged") {
		time.Sleep(time.Millisecond)
	}
	if addr != "" {
		s, err := readAll(t, addr, d.blobs)
		log := stop()
		if c := (compared{}); err == nil && d.compare(t, s) == c && !strings.Contains(log, "the data is damaged") {
			d.verify(t, dir)
			return "serves all"
		}
		if !strings.Contains(log, "the data is damaged") && (err == nil || !strings.Contains(err.Error(), "damaged")) {
			t.Errorf("the server serves %+v, %v, and has logged %s", d.compare(t, s), err, log)
		}
	} else if log := stop(); !strings.Contains(log, "--repair") || !strings.Contains(log, dir) {
		t.Errorf("the refusal is %s", log)
	}
	addr, stop = tryServe(t, dir, "--repair")
	if addr == "" {
		t.Fatalf("the repair: %s", stop())
	}
	s, err := readAll(t, addr, d.blobs)
	log := stop()
	if err != nil {
		t.Fatalf("after the repair: %v, %s", err, log)
	}
	notes, c := readNotes(log), d.compare(t, s)
	if counted := notes.rows + notes.commits*d.batch; !notes.unknown && (c.missing > counted || c.back > counted) {
		t.Errorf("%d rows are missing and %d are older or back, and the repair counts %+v: %s", c.missing, c.back, notes, log)
	}
	d.verify(t, dir)
	addr, stop = tryServe(t, dir)
	if addr == "" {
		t.Fatalf("the repaired folder: %s", stop())
	}
	again, err := readAll(t, addr, d.blobs)
	stop()
	if err != nil || !maps.Equal(s.rows, again.rows) || !maps.Equal(s.blobs, again.blobs) {
		t.Errorf("opened again %d rows of %d are left: %v", len(again.rows), len(s.rows), err)
	}
	switch {
	case c == compared{}:
		return "repaired, all rows"
	case notes.commits > 0:
		return "repaired, commits lost"
	}
	return "repaired, rows lost"
}

// verify wants that cqld verify finds nothing.
func (d *damagedFolder) verify(t *testing.T, dir string) {
	t.Helper()
	if d.foreign {
		return // a table does not show which folder it is of
	}
	if code, out, errs := cqld(t, nil, "verify", dir); code != 0 || !strings.HasPrefix(out, "OK: ") {
		t.Errorf("verify exits with %d: %s%s", code, out, errs)
	}
}

// TestRepairDefinitions damages the block with the definitions, at their first and at their last byte. The folder is
// refused, and a repair has all tables, with all rows.
func TestRepairDefinitions(t *testing.T) {
	d := makeFolder(t, 400, false)
	table := tableWith(t, d.dir, "definition/")
	b, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{bytes.Index(b, []byte("definition/")) + 3, bytes.LastIndex(b, []byte("frozen"))} {
		outcome := d.tryFolder(t, func(dir string) { flipBit(t, filepath.Join(dir, filepath.Base(table)), max(at, 100), 2) })
		if !strings.HasPrefix(outcome, "repaired") {
			t.Errorf("byte %d: it %s", at, outcome)
		}
	}
}

// TestRepairIndexes damages blocks of a table with entries of an index and rows of a view. After the repair these agree
// with the rows that are left: tryFolder verifies it.
func TestRepairIndexes(t *testing.T) {
	d := makeFolder(t, 1000, false)
	table := tableWith(t, d.dir, "definition/")
	info, err := os.Stat(table)
	if err != nil {
		t.Fatal(err)
	}
	for part := range 2 {
		at := int(info.Size()) / 3 * (part + 1)
		d.tryFolder(t, func(dir string) { flipBit(t, filepath.Join(dir, filepath.Base(table)), at, 1) })
	}
}

// tableWith is a table of a folder that has a text.
func tableWith(t *testing.T, dir, text string) string {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tables {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(text)) {
			return path
		}
	}
	t.Fatalf("no table of %v has %s", tables, text)
	return ""
}

// kindOfFile names the kind of a file, and for a table the part of it.
func kindOfFile(path string, at int) string {
	name := filepath.Base(path)
	ext := filepath.Ext(name)
	if ext != ".sst" {
		return cmp.Or(ext, name)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ext
	}
	index := bytes.LastIndex(b[:len(b)-20], []byte{0, 0, 0, 11}) // the length of a block's checksum ends the last block
	if index < 0 || at < index {
		return ".sst block"
	}
	return ".sst index"
}

// flipBit changes a bit of a file.
func flipBit(t *testing.T, path string, at int, bit uint) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 1 << bit
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// wholeDamage makes TestDamage flip 200 bits in a small and a large folder; without, it flips one in each kind of file.
var wholeDamage = os.Getenv("TEST_CQLD_MATRIX") != ""

// TestDamage changes bits of each kind of file.
func TestDamage(t *testing.T) {
	sizes, flips, states := map[string]int{"small": 500}, 0, []bool{true}
	if wholeDamage {
		sizes, flips, states = map[string]int{"small": 3000, "large": 60_000}, 50, []bool{false, true}
	}
	outcomes := map[string]int{}
	for size, n := range sizes {
		for _, kill := range states {
			d := makeFolder(t, n, kill)
			byKind := map[string][]string{} // files
			for _, name := range dataFilesOf(t, d.dir) {
				kind := kindOfFile(filepath.Join(d.dir, name), 0)
				byKind[kind] = append(byKind[kind], name)
			}
			random := rand.New(rand.NewPCG(3, 4))
			kinds := slices.Sorted(maps.Keys(byKind))
			for i := range max(flips, len(kinds)) {
				kind := kinds[i%len(kinds)]
				name := byKind[kind][random.IntN(len(byKind[kind]))]
				path := filepath.Join(d.dir, name)
				content, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				end := len(bytes.TrimRight(content, "\x00"))
				if end == 0 {
					end = len(content)
				}
				if end == 0 {
					continue
				}
				at, bit := random.IntN(end), uint(random.IntN(8))
				if kind == ".sst block" && i/len(kinds)%3 == 1 {
					at = end - 1 - random.IntN(min(end, end/50)) // the index
				}
				switch {
				case kind == ".vlog":
					at %= 20
				case kind == ".mem" && end > 20:
					at = 20 + random.IntN(end-20)
				}
				state := map[bool]string{true: "killed", false: "stopped"}[kill]
				t.Run(fmt.Sprintf("%s %s %s byte %d bit %d", size, state, name, at, bit), func(t *testing.T) {
					outcome := d.tryFolder(t, func(dir string) { flipBit(t, filepath.Join(dir, name), at, bit) })
					outcomes[fmt.Sprintf("%-11s %-7s %s", kindOfFile(path, at), state, outcome)]++
				})
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(outcomes)) {
		t.Logf("%s: %d", key, outcomes[key])
	}
}

// dataFilesOf are the names of the files in a folder.
func dataFilesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && e.Name() != "LOCK" {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestOtherDamage cuts, empties, zeroes and removes files, and puts folders and files of another folder in their place.
func TestOtherDamage(t *testing.T) {
	if !wholeDamage {
		t.Skip("it takes minutes: make damage runs it")
	}
	other := makeFolder(t, 2000, true)
	outcomes := map[string]int{}
	for _, kill := range []bool{false, true} {
		d := makeFolder(t, 3000, kill)
		for _, name := range dataFilesOf(t, d.dir) {
			content, err := os.ReadFile(filepath.Join(d.dir, name))
			if err != nil {
				t.Fatal(err)
			}
			end := len(bytes.TrimRight(content, "\x00"))
			ways := map[string]func(path string) error{
				"removed": os.Remove,
				"emptied": func(path string) error { return os.Truncate(path, 0) },
				"cut":     func(path string) error { return os.Truncate(path, int64(end/2)) },
				"zeroed":  func(path string) error { return os.WriteFile(path, make([]byte, len(content)), 0o600) },
				"half zero": func(path string) error {
					return os.WriteFile(path, append(content[:end/2:end/2], make([]byte, end-end/2)...), 0o600)
				},
				"a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
			}
			if foreign, err := os.ReadFile(filepath.Join(other.dir, name)); err == nil {
				ways["of another folder"] = func(path string) error { return os.WriteFile(path, foreign, 0o600) }
			}
			for _, way := range slices.Sorted(maps.Keys(ways)) {
				if name == "CQLD" && way == "removed" {
					continue // it is refused as a folder of another version
				}
				kind, state := cmp.Or(filepath.Ext(name), name), map[bool]string{true: "killed", false: "stopped"}[kill]
				t.Run(state+" "+name+" "+way, func(t *testing.T) {
					// Rows of a table of another folder cannot be told from this folder's.
					d.foreign = way == "of another folder"
					outcome := d.tryFolder(t, func(dir string) {
						if err := ways[way](filepath.Join(dir, name)); err != nil {
							t.Fatal(err)
						}
					})
					outcomes[fmt.Sprintf("%-11s %-17s %-7s %s", kind, way, state, outcome)]++
				})
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(outcomes)) {
		t.Logf("%s: %d", key, outcomes[key])
	}
}
