package diagram

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/model"
)

var update = flag.Bool("update", false, "rewrite the diagrams in testdata")

// queryOf returns a function that queries a server.
func queryOf(t *testing.T, addr string) model.Query {
	t.Helper()
	conn, err := client.Dial(t.Context(), addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return func(ctx context.Context, statement string) (*client.Result, error) {
		return conn.Query(ctx, statement, nil, nil)
	}
}

// TestDiagrams draws the models in testdata, read from a server.
func TestDiagrams(t *testing.T) {
	s := cqltest.RunT(t)
	query := queryOf(t, s.Addr())
	for name, keyspaces := range map[string][]string{
		"hotel": {"hotel"}, "reservation": {"reservation"}, "order": {"shop"}, "supermarket": {"customer", "order_delivery"},
	} {
		path := filepath.Join("testdata", name)
		script, err := os.ReadFile(path + ".cql")
		if err != nil {
			t.Fatal(err)
		}
		s.Exec(t, string(script))
		read := func(o Options) *Diagram {
			d, err := Read(t.Context(), query, keyspaces, func(tables []*model.Table) []Pattern {
				return InFile(string(script), tables)
			}, false, o)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		golden(t, path+".svg", SVG, read(Options{}))
		golden(t, path+".txt", Text, read(Options{}))
		golden(t, path+".md", Markdown, read(Options{}))
		golden(t, path+"-logical.svg", SVG, read(Options{Logical: true}))
		golden(t, path+"-logical.txt", Text, read(Options{Logical: true}))
	}
}

// golden compares a diagram with a file.
func golden(t *testing.T, path string, draw func(io.Writer, *Diagram) error, d *Diagram) {
	t.Helper()
	var b strings.Builder
	if err := draw(&b, d); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines, wanted := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(lines), len(wanted)) {
		if i >= len(lines) || i >= len(wanted) || lines[i] != wanted[i] {
			t.Errorf("line %d of %s has changed (go test -run TestDiagrams -update rewrites the file)\n%s", i+1, path,
				strings.Join(lines[min(i, len(lines)):], "\n"))
			return
		}
	}
}

// randomModel makes tables of two keyspaces and patterns between them.
func randomModel(r *rand.Rand, tables, patterns int) ([]*model.Table, []Pattern) {
	var all []*model.Table
	for i := range tables {
		t := &model.Table{Keyspace: "ks" + strconv.Itoa(r.IntN(2)), Name: "t" + strconv.Itoa(i)}
		for c := range 1 + r.IntN(8) {
			t.Columns = append(t.Columns, model.Column{Name: "column" + strconv.Itoa(c), Kind: "regular", Type: "text"})
		}
		all = append(all, t)
	}
	var named []Pattern
	key := func() string { t := all[r.IntN(len(all))]; return t.Keyspace + "." + t.Name }
	for i := range patterns {
		p := Pattern{Name: "Q" + strconv.Itoa(i), Table: key(), Count: r.Int64N(100)}
		if r.IntN(3) > 0 {
			p.From = key()
		}
		named = append(named, p)
	}
	return all, named
}

// TestLayout checks layouts of random models. Boxes do not overlap and are inside their frames. Arrows begin and end at
// the sides of their boxes, pass through no box and do not lie on each other.
func TestLayout(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		tables, patterns := randomModel(r, 1+r.IntN(40), r.IntN(120))
		checkLayout(t, newLayout(New(tables, patterns, Options{})))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// checkLayout checks a layout.
func checkLayout(t *testing.T, l *layout) {
	t.Helper()
	for i, f := range l.frames {
		for _, b := range f.boxes {
			if b.y-b.above() < l.tops[i]+frameTop || b.y+b.h > l.bottoms[i] || b.x < margin || b.x+b.w > l.width-margin {
				t.Errorf("%s at %+v is outside its frame", b.key, b.place)
			}
		}
	}
	for i, a := range l.boxes {
		for _, b := range l.boxes[:i] {
			if a.x < b.x+b.w && b.x < a.x+a.w && a.y-a.above() < b.y+b.h && b.y-b.above() < a.y+a.h {
				t.Errorf("%s at %+v overlaps %s at %+v", a.key, a.place, b.key, b.place)
			}
		}
	}
	type segment struct {
		a        *arrow
		from, to [2]int
	}
	var segments []segment
	for _, a := range l.arrows {
		points := l.corners(a)
		for i, end := range [][2]int{points[0], points[len(points)-1]} {
			b := []*box{a.from, a.to}[i]
			if end[0] != b.x && end[0] != b.x+b.w || end[1] < b.y || end[1] > b.y+b.h {
				t.Errorf("end %d of the arrow from %s to %s is at %v, the box at %+v", i, a.from.key, a.to.key, end, b.place)
			}
		}
		for i := 1; i < len(points); i++ {
			low := [2]int{min(points[i-1][0], points[i][0]), min(points[i-1][1], points[i][1])}
			high := [2]int{max(points[i-1][0], points[i][0]), max(points[i-1][1], points[i][1])}
			if low[0] != high[0] && low[1] != high[1] {
				t.Errorf("the arrow from %s to %s is oblique at %v", a.from.key, a.to.key, points)
			}
			segments = append(segments, segment{a, low, high})
		}
	}
	for i, s := range segments {
		for _, b := range l.boxes {
			if s.from[0] < b.x+b.w && s.to[0] > b.x && s.from[1] < b.y+b.h && s.to[1] > b.y {
				t.Errorf("the arrow from %s to %s passes through %s", s.a.from.key, s.a.to.key, b.key)
			}
		}
		for _, o := range segments[:i] {
			along := func(x, y int) bool {
				return s.from[x] == s.to[x] && o.from[x] == o.to[x] && s.from[x] == o.from[x] &&
					s.from[y] < o.to[y] && o.from[y] < s.to[y]
			}
			if s.a != o.a && (along(0, 1) || along(1, 0)) {
				t.Errorf("the arrows from %s to %s and from %s to %s lie on each other at %v and %v", s.a.from.key, s.a.to.key,
					o.a.from.key, o.a.to.key, s, o)
			}
		}
	}
}

// TestHostileNames draws names that would disturb XML, Markdown or a terminal, types of all kinds, and a keyspace
// without tables.
func TestHostileNames(t *testing.T) {
	s := cqltest.RunT(t)
	long := strings.Repeat("long", 100)
	s.Exec(t, `CREATE KEYSPACE empty WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE KEYSPACE "Odd" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TYPE "Odd"."T" ("a""b" int, n frozen<list<text>>);
CREATE TABLE "Odd"."Names" (k int, "</text><script>alert(1)</script>" int, "a & 'b' ""c""" int, "Zürich ☃ 東京" text,
	"line`+"\n\x1b[31m"+`" int, `+long+` text, "| `+"`x`"+` |" map<text, frozen<map<int, frozen<"T">>>>,
	l list<frozen<"T">>, v vector<float, 3>, tup tuple<int, text>, "`+"\u202e"+`" int, u "T",
	PRIMARY KEY (k, "a & 'b' ""c""")) WITH CLUSTERING ORDER BY ("a & 'b' ""c""" DESC)
	AND comment = 'Q1: <b>all</b> & "more" (of them); Q2: from itself ("Names" -> "Odd"."Names"); Q3 no pattern';
CREATE MATERIALIZED VIEW "Odd"."View" AS SELECT * FROM "Odd"."Names" WHERE k IS NOT NULL
	AND "a & 'b' ""c""" IS NOT NULL PRIMARY KEY (k, "a & 'b' ""c""") WITH comment = 'Q2. by view ("Names" → "View")';`)
	d, err := Read(t.Context(), queryOf(t, s.Addr()), nil, nil, false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkLayout(t, newLayout(d))
	var svg, text, page strings.Builder
	for out, draw := range map[*strings.Builder]func(io.Writer, *Diagram) error{&svg: SVG, &text: Text, &page: Markdown} {
		if err := draw(out, d); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(out.String(), "\x1b\u202e") {
			t.Errorf("control characters in\n%q", out)
		}
	}
	for decoder := xml.NewDecoder(strings.NewReader(svg.String())); ; {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		known := []string{"svg", "title", "style", "rect", "path", "text", "g"}
		if e, ok := token.(xml.StartElement); ok && !slices.Contains(known, e.Name.Local) {
			t.Errorf("the element %v in the picture", e)
		}
	}
	for _, want := range []string{
		"data-table=\"Odd.Names\"", ">a &amp; &#39;b&#39; &quot;c&quot;<", ">Zürich ☃ 東京<", "longlong…<", ">&lt;| `x` |&gt;<",
		">[l]<", ">(tup)<", ">*u*<", ">v<", ">vector&lt;float, 3&gt;<", ">view of Names<", ">keyspace empty<", ">Q1, Q2<",
		">*T*<", ">[n]<", ">&lt;b&gt;all&lt;/b&gt; &amp; &quot;more&quot; (of them)<", ">C↓<",
	} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("there is no %s in\n%s", want, svg.String())
		}
	}
	for out, want := range map[string]string{
		text.String(): "│ line��[31m                                        int",
		page.String(): `| \<\| \` + "`x\\`" + ` \|\> | map\<text, frozen\<map\<int, frozen\<"T"\>\>\>\> |  |`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %s in\n%s", want, out)
		}
	}
	for line := range strings.Lines(text.String()) {
		if strings.HasPrefix(line, "│") && TextWidth(line) > 140 {
			t.Errorf("a long line: %s", line)
		}
	}
}

// TestManyTables draws many tables quickly.
func TestManyTables(t *testing.T) {
	tables, patterns := randomModel(rand.New(rand.NewPCG(1, 1)), 200, 250)
	began := time.Now()
	for _, draw := range []func(io.Writer, *Diagram) error{SVG, Text, Markdown} {
		if err := draw(io.Discard, New(tables, patterns, Options{})); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > 2*time.Second { // 30 ms on an idle machine
		t.Errorf("it took %v", took)
	}
}

// TestTraffic finds patterns in the queries that a server has recorded.
func TestTraffic(t *testing.T) {
	s := cqltest.RunT(t, cqltest.WithControls())
	s.Exec(t, `CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TABLE ks.users (id int PRIMARY KEY, name text) WITH comment = 'Q1: a user';
CREATE TABLE ks.posts (user int, at int, text text, PRIMARY KEY (user, at));`)
	query := queryOf(t, s.Addr())
	for user := range 3 {
		for _, statement := range []string{
			"SELECT * FROM ks.users WHERE id = %d", "INSERT INTO ks.posts (user, at) VALUES (%d, 1)",
			"SELECT text FROM ks.posts WHERE user = %d", "SELECT wrong FROM ks.posts WHERE user = %d",
		} {
			_, err := query(t.Context(), fmt.Sprintf(statement, user))
			if err != nil && !strings.Contains(statement, "wrong") {
				t.Fatal(err)
			}
		}
	}
	d, err := Read(t.Context(), query, nil, nil, true, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Pattern{
		{Name: "Q1", Text: "a user", Table: "ks.users"},
		{Name: "T1", Text: "SELECT text FROM ks.posts WHERE user = ?", Table: "ks.posts", From: "ks.users", Count: 3},
		{Name: "T2", Text: "SELECT * FROM ks.users WHERE id = ?", Table: "ks.users", From: "ks.posts", Count: 3},
	}
	if !slices.Equal(d.patterns, want) {
		t.Errorf("%+v\nwant %+v", d.patterns, want)
	}
	other := queryOf(t, cqltest.RunT(t).Addr())
	if _, err := Read(t.Context(), other, nil, nil, true, Options{}); !errors.Is(err, model.ErrNotRecorded) {
		t.Errorf("without a record: %v", err)
	}
}

// TestInFile finds the patterns that comments name.
func TestInFile(t *testing.T) {
	tables := []*model.Table{{Keyspace: "a", Name: "t"}, {Keyspace: "b", Name: "t"}, {Keyspace: "b", Name: "Other"}}
	got := InFile(`-- Q1: the first text
-- Q10: no table (of many)
// Q2. between tables (b.t → "Other")
--Q3: not a table (a.nothing)
CREATE TABLE b.t (k int PRIMARY KEY); -- Q5: not a line
-- Q1: another text

CREATE TABLE c (k int PRIMARY KEY);
-- Q4 no colon
-- Q1: again
create table if not exists "b"."Other" (k int PRIMARY KEY);`, tables)
	want := []Pattern{
		{Name: "Q1", Text: "the first text", Table: "b.t"},
		{Name: "Q1", Text: "the first text", Table: "b.Other"},
		{Name: "Q10", Text: "no table (of many)", Table: "b.t"},
		{Name: "Q2", Text: "between tables", Table: "b.Other", From: "b.t"},
		{Name: "Q3", Text: "not a table (a.nothing)", Table: "b.t"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
