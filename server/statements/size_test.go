package statements

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
	"github.com/cqld/cqld/store/system"
)

// newPlanner is a planner of a store with the tables ks.t and ks.wide, of 200 columns.
func newPlanner(t testing.TB) *Planner {
	t.Helper()
	data, err := store.Open(store.Options{
		Engine: func(fold engine.Fold) (engine.Engine, error) { return memory.Open(fold), nil },
		System: system.Definitions(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	settings := guardrail.Default()
	p := &Planner{
		Store: data, Exec: exec.New(data, nil, settings, zerolog.Nop()), Settings: settings,
		Latencies: observe.NewLatencies(data), Limits: parser.DefaultLimits, Nodes: func() map[string]int { return nil },
	}
	var wide strings.Builder
	for i := range 200 {
		fmt.Fprintf(&wide, ", column_%d text", i)
	}
	for i, text := range []string{
		"CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE ks.t (k int PRIMARY KEY, i int, x text, l list<int>, m map<int, text>)",
		"CREATE TABLE ks.wide (k int PRIMARY KEY" + wide.String() + ")",
	} {
		parsed, _, err := parser.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		err = data.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
			p, err := planner.Make(parsed, planner.Env{Catalog: c})
			if err != nil {
				return nil, err
			}
			c, _, err = p.Plan.(define.Definition).Apply(c, define.Run{NewID: [16]byte{byte(i + 1)}})
			return c, err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// sizedStatements are texts of about a length, with a number in them that makes each another one.
var sizedStatements = map[string]func(length, number int) string{
	"list": func(length, number int) string {
		return fmt.Sprintf("UPDATE ks.t SET l = [%d%s] WHERE k = ?", number, strings.Repeat(",1234", length/5))
	},
	"map": func(length, number int) string {
		return fmt.Sprintf("UPDATE ks.t SET m = {%d:''%s} WHERE k = ?", number, strings.Repeat(",1234:'abc'", length/11))
	},
	"string": func(length, number int) string {
		return fmt.Sprintf("UPDATE ks.t SET x = '%d%s' WHERE k = ?", number, strings.Repeat("x", length))
	},
	"comment": func(length, number int) string {
		return fmt.Sprintf("SELECT k FROM ks.t /* %d%s */ WHERE k = ?", number, strings.Repeat("x", length))
	},
	"in": func(length, number int) string {
		return fmt.Sprintf("SELECT k FROM ks.t WHERE k IN (%d%s)", number, strings.Repeat(",1234", length/5))
	},
	"in of markers": func(length, number int) string {
		return fmt.Sprintf("SELECT k FROM ks.t WHERE k IN (%d%s)", number, strings.Repeat(",?", min(length, 40_000)/2))
	},
	"batch": func(length, number int) string {
		return fmt.Sprintf("BEGIN BATCH DELETE FROM ks.t WHERE k=%d; %s APPLY BATCH", number,
			strings.Repeat("INSERT INTO ks.t (k, i) VALUES (?, 1); ", length/39))
	},
	"assignments": func(length, number int) string {
		return fmt.Sprintf("UPDATE ks.t SET m[%d] = ''%s WHERE k = 1", number, strings.Repeat(", m[1] = 'a'", min(length, 30_000)/12))
	},
	"wide": func(length, number int) string { return fmt.Sprintf("SELECT * FROM ks.wide WHERE k = %d", number) },
	"wide insert": func(length, number int) string {
		var names, values strings.Builder
		for i := range 200 {
			fmt.Fprintf(&names, ", column_%d", i)
			values.WriteString(", ?")
		}
		return fmt.Sprintf("INSERT INTO ks.wide (k%s) VALUES (%d%s)", names.String(), number, values.String())
	},
	"selectors": func(length, number int) string {
		return fmt.Sprintf("SELECT k AS k%d%s FROM ks.t", number, strings.Repeat(", x", min(length, 20_000)/3))
	},
	"short batch": func(_, number int) string {
		return fmt.Sprintf("BEGIN BATCH DELETE FROM ks.t WHERE k=%d;%s APPLY BATCH", number, strings.Repeat("DELETE FROM ks.t WHERE k=1;", 16))
	},
	"short assignments": func(_, number int) string {
		return fmt.Sprintf("UPDATE ks.t SET m[%d] = ''%s WHERE k = 1", number, strings.Repeat(",m[1]=''", 50))
	},
	"short selectors": func(_, number int) string {
		return fmt.Sprintf("SELECT k AS k%d%s FROM ks.t", number, strings.Repeat(",i", 200))
	},
	"small": func(_, number int) string { return fmt.Sprintf("INSERT INTO ks.t (k, i, x) VALUES (?, %d, ?)", number) },
	"tiny":  func(_, number int) string { return fmt.Sprintf("SELECT i FROM ks.t WHERE k = %d", number) },
}

// A cache of statements never takes more memory than it counts.
func TestStatementSize(t *testing.T) {
	planning := newPlanner(t)
	length, room := 30_000, int64(2<<20)
	if os.Getenv("TEST_CQLD_FULL") != "" {
		length, room = 100_000, 4<<20
	}
	if underRace { // which does not change sizes
		length, room = 5_000, 256<<10
	}
	for name, text := range sizedStatements {
		for _, prepared := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%t", name, prepared), func(t *testing.T) {
				first, err := planning.Plan(nil, nil, text(length, 1), "ks", true, time.Now()) // what is pooled then is not counted
				if err != nil {
					t.Fatal(err)
				}
				n := min(4+int(room/first.size), 1000)
				kept := make([]*Statement, 0, n)
				c := newCache[ID](1 << 40)
				before := heapInUse()
				for i := range n {
					st, err := planning.Plan(nil, nil, strings.Clone(text(length, i)), "ks", !prepared, time.Now())
					if err != nil {
						t.Fatal(err)
					}
					if prepared {
						st.describe()
					}
					c.put(idOf(st.Text, ""), st)
					c.put(idOf(st.Text, "ks"), st)
					kept = append(kept, st)
				}
				grown := heapInUse() - before
				_, size, _ := c.usage()
				t.Logf("%d statements of %d bytes: %d in the heap, %d counted: %.2f", n, len(kept[0].Text), grown/int64(n),
					size/int64(n), float64(size)/float64(grown))
				if size < grown {
					t.Errorf("the heap grew by %d bytes, only %d are counted", grown, size)
				}
				runtime.KeepAlive(kept)
				runtime.KeepAlive(first)
			})
		}
	}
}

// heapInUse is what is alive.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
