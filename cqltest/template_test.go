package cqltest_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
)

// TestTemplate has tests begin at the same time with what a template holds, which is built once.
func TestTemplate(t *testing.T) {
	var built atomic.Int32
	var folder string
	template := cqltest.Template(func(t testing.TB, srv *cqltest.Server) {
		built.Add(1)
		folder = t.TempDir()
		srv.Clock().Freeze()
		srv.Clock().Set(time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC))
		srv.AddNode("a", "")
		srv.Exec(t, createShop, "CREATE TABLE shop.t (k int PRIMARY KEY)", "INSERT INTO shop.t (k) VALUES (0)")
	}, cqltest.WithAuth(), cqltest.RingOf("a=1,b=1"))
	t.Run("tests", func(t *testing.T) {
		for k := range 4 {
			t.Run(fmt.Sprint(k), func(t *testing.T) {
				t.Parallel()
				srv := template.RunT(t)
				srv.Query(t, "INSERT INTO shop.t (k) VALUES (?)", k+1)
				if got := srv.Query(t, "SELECT count(*) FROM shop.t").String(); got != "2" {
					t.Errorf("%s rows", got)
				}
				if len(srv.Nodes()) != 3 || srv.Clock().Now().Year() != 2031 {
					t.Errorf("%d nodes, the clock shows %v", len(srv.Nodes()), srv.Clock().Now())
				}
			})
		}
	})
	if built.Load() != 1 {
		t.Errorf("the template was built %d times", built.Load())
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("its folder is still there")
	}
}

// TestTemplateFails wants each test that uses a template to say why it could not be built.
func TestTemplateFails(t *testing.T) {
	for want, build := range map[string]func(testing.TB, *cqltest.Server){
		"no keyspace":                      func(t testing.TB, _ *cqltest.Server) { t.Fatalf("no %s", "keyspace") },
		"line 1 of CQL":                    func(t testing.TB, _ *cqltest.Server) { t.Errorf("line %d of CQL", 1) },
		"Undefined column name nope":       func(t testing.TB, srv *cqltest.Server) { srv.Query(t, "SELECT nope FROM system.local") },
		"panic: out of ideas":              func(testing.TB, *cqltest.Server) { panic("out of ideas") },
		"cannot be skipped: not on Sunday": func(t testing.TB, _ *cqltest.Server) { t.Skip("not on Sunday") },
	} {
		template := cqltest.Template(build)
		for range 2 {
			f := &failures{TB: t}
			func() {
				defer func() { _ = recover() }()
				template.RunT(f)
			}()
			if got := strings.Join(f.all, "\n"); !strings.Contains(got, "could not be built") || !strings.Contains(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

// BenchmarkTemplate starts servers that begin with a template of 50 tables. It reports the median time.
func BenchmarkTemplate(b *testing.B) {
	template := cqltest.Template(func(t testing.TB, srv *cqltest.Server) {
		srv.Exec(t, createShop, "USE shop")
		for i := range 50 {
			srv.Exec(t, fmt.Sprintf("CREATE TABLE t%d (k int PRIMARY KEY, v text)", i))
		}
	})
	if err := template.RunT(b).Stop(context.Background()); err != nil { // builds it
		b.Fatal(err)
	}
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		srv := template.RunT(b)
		took = append(took, time.Since(began))
		if err := srv.Stop(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs")
}
