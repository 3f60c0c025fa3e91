package planner

import (
	"cmp"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/planner/define"
)

var hostileSize = flag.Int("hostile", 256<<10, "the length of the texts of TestHostileTexts")

// hostile is a text that is made of one part again and again.
type hostile struct {
	head, part, tail string
	bound            int    // bytes for each byte of text that parsing and planning may hold; 0: perText
	refused          string // what the refusal begins with; "" if it is planned
}

// perText is the bound that docs/differences.md tells.
const perText = 40

// shortBound is the bound for a short text.
const shortBound = 24 << 20

func (h hostile) text(size int) string {
	n := max(1, (size-len(h.head)-len(h.tail))/len(h.part))
	if !strings.Contains(h.part, "%") {
		return h.head + strings.Repeat(h.part, n) + h.tail
	}
	var s strings.Builder
	for s.WriteString(h.head); s.Len() < size-len(h.tail); {
		fmt.Fprintf(&s, h.part, s.Len()*7919%1e7)
	}
	return s.String() + h.tail
}

const (
	tooManyWords = "The statement has too many words for its length of "
	tooManyNodes = "More than 65536 values, arguments or components of a tuple"
	tooDeep      = "The statement is nested deeper than 1000 levels"
)

// hostileTexts are those that take most.
var hostileTexts = map[string]hostile{
	"list":                {head: "UPDATE ks.long SET l = [1", part: ",1", tail: "] WHERE k = 1", bound: 24},
	"list of numbers":     {head: "UPDATE ks.long SET l = [1", part: ",1234567", tail: "] WHERE k = 1", bound: 16},
	"prepend":             {head: "UPDATE ks.long SET l = [1", part: ",1", tail: "] + l WHERE k = 1", bound: 24},
	"set":                 {head: "UPDATE ks.long SET s = {1", part: ",1", tail: "} WHERE k = 1", bound: 24},
	"map":                 {head: "UPDATE ks.long SET m = {1:1", part: ",1:1", tail: "} WHERE k = 1", bound: 24},
	"vector":              {head: "UPDATE ks.long SET v = [1", part: ",1", tail: "] WHERE k = 1", refused: "Invalid vector literal"},
	"lists":               {head: "UPDATE ks.long SET ll = [[1]", part: ",[1]", tail: "] WHERE k = 1"},
	"list of long lists":  {head: "UPDATE ks.long SET ll = [[1]", part: ",[" + strings.Repeat("1,", 999) + "1]", tail: "] WHERE k = 1"},
	"list of empty lists": {head: "UPDATE ks.long SET ll = [[1]", part: ",[]", tail: "] WHERE k = 1"},
	"tuples":              {head: "UPDATE ks.long SET lt = [(1,1)", part: ",(1,1)", tail: "] WHERE k = 1"},
	"user types":          {head: "UPDATE ks.long SET lu = [{a:1}", part: ",{a:1}", tail: "] WHERE k = 1"},
	"strings":             {head: "UPDATE ks.long SET lx = [''", part: ",''", tail: "] WHERE k = 1"},
	"durations":           {head: "UPDATE ks.long SET lx = ['1'", part: ",1d", tail: "] WHERE k = 1", refused: "Invalid list literal for lx"},
	"nulls":               {head: "UPDATE ks.long SET l = [1", part: ",null", tail: "] WHERE k = 1", refused: "null is not supported"},
	"comments in a list":  {head: "UPDATE ks.long SET l = [1", part: ",/**/1", tail: "] WHERE k = 1"},
	"wrong element":       {head: "UPDATE ks.long SET l = [1", part: ",1", tail: ",'a'] WHERE k = 1", refused: "Invalid list literal for l: value 'a' is not of type int"},
	"list for an int":     {head: "UPDATE ks.long SET i = [1", part: ",1", tail: "] WHERE k = 1", refused: "Unexpected receiver type"},
	"addition to an int":  {head: "UPDATE ks.long SET i = i + [1", part: ",1", tail: "] WHERE k = 1", refused: "Invalid operation (i = i + [1, 1"},
	"in":                  {head: "SELECT * FROM ks.long WHERE k IN (1", part: ",1", tail: ")", bound: 24},
	"in of several":       {head: "SELECT * FROM ks.pair WHERE k = 1 AND (a, b) IN ((1,1)", part: ",(1,1)", tail: ")"},
	"in of one, null":     {head: "SELECT * FROM ks.long WHERE k IN (null", part: ",1", tail: ")", refused: "A literal of more than 65536 terms"},
	"in of calls":         {head: "SELECT * FROM ks.long WHERE k IN (1", part: ",f(1)", tail: ")", refused: tooManyWords},
	"in of markers":       {head: "SELECT * FROM ks.long WHERE k IN (?", part: ",?", tail: ")", refused: "Too many markers"},
	"values":              {head: "INSERT INTO ks.long (k, l) VALUES (1", part: ",1", tail: ")", refused: tooManyNodes},
	"arguments":           {head: "INSERT INTO ks.long (k, l) VALUES (1, abs(1", part: ",1", tail: "))", refused: tooManyNodes},
	"tuple":               {head: "INSERT INTO ks.long (k, t) VALUES (1, (1", part: ",1", tail: "))", refused: tooManyNodes},
	"list without end":    {head: "UPDATE ks.long SET l = [1", part: ",1", refused: "line "},
	"string":              {head: "UPDATE ks.long SET x = '", part: "a", tail: "' WHERE k = 1"},
	"quotes":              {head: "UPDATE ks.long SET x = '", part: "''", tail: "' WHERE k = 1"},
	"blob":                {head: "UPDATE ks.long SET b = 0x", part: "00", tail: " WHERE k = 1"},
	"string without end":  {head: "UPDATE ks.long SET x = '", part: "a", refused: "line "},
	"word":                {head: "SELECT ", part: "a", tail: " FROM ks.long", refused: "Undefined column name"},
	"brackets":            {head: "UPDATE ks.long SET l = ", part: "[", refused: tooDeep},
	"semicolons":          {head: "SELECT * FROM ks.long", part: ";", refused: tooManyWords},
	"comments":            {head: "SELECT * FROM ks.long ", part: "--\n"},
	"bad tokens":          {head: "SELECT * FROM ks.long ", part: "~", refused: tooManyWords},
	"sum":                 {head: "SELECT a", part: "+a", tail: " FROM ks.long", refused: tooDeep},
	"sums":                {head: "UPDATE ks.long SET l = [1", part: ",1+1", tail: "] WHERE k = 1", refused: tooManyWords},
	"selectors":           {head: "SELECT k", part: ",k", tail: " FROM ks.long", refused: tooManyWords},
	"relations":           {head: "SELECT * FROM ks.long WHERE k=1", part: " AND k=1", refused: tooManyWords},
	"assignments":         {head: "UPDATE ks.long SET l[1]=1", part: ",l[1]=1", tail: " WHERE k=1", refused: tooManyWords},
	"columns":             {head: "INSERT INTO ks.long (k", part: ",k", tail: ") VALUES (1)", refused: tooManyWords},
	"batch":               {head: "BEGIN BATCH", part: " INSERT INTO ks.long (k, i) VALUES (1, 1)", tail: " APPLY BATCH"},
	"short batch":         {head: "BEGIN BATCH", part: " DELETE FROM ks.i WHERE k=1", tail: " APPLY BATCH"},
	"batch of broken":     {head: "BEGIN BATCH", part: " INSERT", tail: " APPLY BATCH", refused: "line 1:"},
	"batch of semicolons": {head: "BEGIN BATCH", part: ";", tail: " APPLY BATCH", refused: tooManyWords},
	"batch of lists":      {head: "BEGIN BATCH", part: " UPDATE ks.long SET l = [" + strings.Repeat("1,", 100) + "1] WHERE k=1", tail: " APPLY BATCH"},
	"json list":           {head: "INSERT INTO ks.long JSON '{\"k\":1,\"l\":[1", part: ",1", tail: "]}'"},
	"json strings":        {head: "INSERT INTO ks.long JSON '{\"k\":1,\"lx\":[\"\"", part: ",\"\"", tail: "]}'"},
	"json map":            {head: "INSERT INTO ks.long JSON '{\"k\":1,\"m\":{\"1\":1", part: ",\"1\":1", tail: "}}'"},
	"json unknown":        {head: "INSERT INTO ks.long JSON '{\"k\":1,\"q\":[1", part: ",1", tail: "]}'", refused: "JSON values map contains"},
	"json brackets":       {head: "INSERT INTO ks.long JSON '{\"k\":1,\"l\":", part: "[", tail: "}'", refused: "Could not decode"},
	"varint":              {head: "UPDATE ks.long SET n = 1", part: "1", tail: " WHERE k = 1"},
	"decimal":             {head: "UPDATE ks.long SET d = 1", part: "1", tail: ".5 WHERE k = 1", refused: "Failed parsing statement"},
	"json distinct":       {head: "INSERT INTO ks.long JSON '{\"k\":1,\"m\":{\"1\":1", part: ",\"%07d\":1", tail: "}}'"},
	"json objects":        {head: "INSERT INTO ks.long JSON '{\"k\":1,\"q\":[{}", part: ",{}", tail: "]}'", refused: "JSON values map contains"},
	"json entries":        {head: "INSERT INTO ks.long JSON '{\"k\":1,\"q\":[{}", part: ",{\"\":1}", tail: "]}'", refused: "JSON values map contains"},
	"json lists":          {head: "INSERT INTO ks.long JSON '{\"k\":1,\"ll\":[[]", part: ",[1]", tail: "]}'"},
	"distinct set":        {head: "UPDATE ks.long SET s = {1", part: ",%07d", tail: "} WHERE k = 1", bound: 24},
	"distinct map":        {head: "UPDATE ks.long SET m = {1:1", part: ",%07d:1", tail: "} WHERE k = 1", bound: 24},
	"distinct in":         {head: "SELECT * FROM ks.long WHERE k IN (1", part: ",%07d", tail: ")", bound: 24},
	"float":               {head: "UPDATE ks.long SET d = 1.", part: "1", tail: " WHERE k = 1"},
	"integer for a text":  {head: "UPDATE ks.long SET x = 1", part: "1", tail: " WHERE k = 1", refused: "Invalid INTEGER constant"},
	"property":            {head: "CREATE TABLE ks.q (k int PRIMARY KEY) WITH caching = {'a':'b'", part: ",'a':'b'", tail: "}", refused: tooManyWords},
}

// hostileCatalog has the tables of hostileTexts.
func hostileCatalog(t testing.TB) Env {
	t.Helper()
	env := Env{Catalog: catalog(t), Keyspace: "ks"}
	for i, text := range []string{
		"CREATE TYPE ks.u (a int, b int)",
		"CREATE TABLE ks.long (k int PRIMARY KEY, i int, l list<int>, s set<int>, m map<int, int>, v vector<float, 3>, " +
			"ll list<frozen<list<int>>>, lt list<frozen<tuple<int, int>>>, lu list<frozen<u>>, lx list<text>, t tuple<int, int>, " +
			"x text, b blob, n varint, d decimal)",
		"CREATE TABLE ks.pair (k int, a int, b int, PRIMARY KEY (k, a, b))",
		"CREATE TABLE ks.i (k int PRIMARY KEY)",
	} {
		p, err := prepare(env, text)
		if err != nil {
			t.Fatal(text, err)
		}
		if env.Catalog, _, err = p.Plan.(define.Definition).Apply(env.Catalog, define.Run{NewID: [16]byte{byte(i + 10)}}); err != nil {
			t.Fatal(text, err)
		}
	}
	return env
}

// TestHostileTexts measures what parsing and planning texts holds that are made to take much. The heap is what the
// collector finds alive while it runs all the time.
func TestHostileTexts(t *testing.T) {
	env := hostileCatalog(t)
	for name, h := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			text := h.text(*hostileSize)
			var err error
			var p *Prepared
			bound := cmp.Or(h.bound, perText)
			live, total, took := measure(bound*len(text), func() { p, err = prepareCounted(env, text) })
			per, all := float64(live)/float64(len(text)), float64(total)/float64(len(text))
			t.Logf("%20s %5.1f live, %6.1f allocated bytes for each byte, %s, %.60v", name, per, all, took.Round(time.Millisecond), err)
			switch {
			case h.refused == "" && err != nil:
				t.Errorf("refused: %.200v", err)
			case h.refused != "" && (err == nil || !strings.HasPrefix(err.Error(), h.refused)):
				t.Errorf("got %.200v", err)
			}
			if _, ok := cqlerr.As(err); err != nil && !ok {
				t.Errorf("an error without a kind: %v", err)
			}
			if per > float64(bound) {
				t.Errorf("%.1f bytes are held for each byte of text, more than %d", per, bound)
			}
			runtime.KeepAlive(p)
		})
	}
}

// BenchmarkHostileTexts parses and plans the texts of TestHostileTexts.
func BenchmarkHostileTexts(b *testing.B) {
	env := hostileCatalog(b)
	for name, h := range hostileTexts {
		text := h.text(*hostileSize)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := prepareCounted(env, text)
				if (err != nil) != (h.refused != "") {
					b.Fatal(err)
				}
			}
		})
	}
}

// prepareCounted is prepare, but refuses too many markers as the server does.
func prepareCounted(env Env, text string) (*Prepared, error) {
	stmt, markers, err := parser.Parse(text)
	if err == nil && markers > 1<<16 {
		err = cqlerr.Invalidf("Too many markers(?)")
	}
	if err != nil {
		return nil, err
	}
	return Make(stmt, env)
}

// TestShortHostileTexts is TestHostileTexts for texts with as many words as a short one may have.
func TestShortHostileTexts(t *testing.T) {
	env := hostileCatalog(t)
	for name, h := range hostileTexts {
		text := h.text(34_000)
		live, total, _ := measure(shortBound, func() { _, _ = prepareCounted(env, text) })
		t.Logf("%20s %5d KiB live, %6d KiB allocated", name, live>>10, total>>10)
		if live > shortBound {
			t.Errorf("%s: %d bytes are held", name, live)
		}
	}
}

// measure measures f, up to five times, until it holds no more than it may. What is measured can only be too much: what
// becomes garbage while the collector marks counts as alive, and marking takes longer on a busy machine.
func measure(bound int, f func()) (live, total uint64, took time.Duration) {
	live, total, took = measureOnce(f)
	for again := 0; again < 4 && live > uint64(bound); again++ {
		least, _, _ := measureOnce(f)
		live = min(live, least)
	}
	return live, total, took
}

// measureOnce runs f while the collector is busy, and returns how much the live heap grew at most, and what was
// allocated.
func measureOnce(f func()) (live, total uint64, took time.Duration) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	read := func() (uint64, uint64) {
		metrics.Read(sample)
		return sample[0].Value.Uint64(), sample[1].Value.Uint64()
	}
	base, before := read()
	var peak atomic.Uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			metrics.Read(s)
			if v := s[0].Value.Uint64(); v > peak.Load() {
				peak.Store(v)
			}
		}
	}()
	began := time.Now()
	f()
	took = time.Since(began)
	runtime.GC()
	close(stop)
	<-stopped
	last, after := read()
	if highest := max(peak.Load(), last); highest > base {
		live = highest - base
	}
	return live, after - before, took
}
