// Package real tests the engine on a real TiKV cluster. It is separate from the tests on the mock, which makes
// client-go assume that all stores live.
package real

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cluster/tikv"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// given are variables of the environment without their prefix: CQLD_TIKV_PD names the placement drivers of a cluster,
// CQLD_TIKV_CA, CQLD_TIKV_CERT and CQLD_TIKV_KEY the files of TLS, CQLD_TIKV_FAULT a program (TestOutages). They are
// removed from the environment, because cqld-cluster refuses to start with CQLD_ names that it does not know.
var given = map[string]string{}

// realCluster is the cluster to run on.
func realCluster(t *testing.T) tikv.Address {
	t.Helper()
	if given["PD"] == "" {
		t.Skip("CQLD_TIKV_PD names no placement driver: nothing is run on a TiKV cluster")
	}
	return tikv.Address{
		PD: strings.Split(given["PD"], ","), Authorities: given["CA"], Certificate: given["CERT"], Key: given["KEY"],
	}
}

// findings is a table of what was measured, which is printed at the end.
var findings [][3]string

// found adds a line to the table: what was done, what was looked at and what was found.
func found(did, what string, value any) {
	findings = append(findings, [3]string{did, what, fmt.Sprint(value)})
}

func TestMain(m *testing.M) {
	for _, name := range []string{"PD", "CA", "CERT", "KEY", "FAULT"} {
		given[name] = os.Getenv("CQLD_TIKV_" + name)
		if err := os.Unsetenv("CQLD_TIKV_" + name); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	for _, f := range findings {
		fmt.Printf("%-28s %-44s %s\n", f[0], f[1], f[2])
	}
	os.Exit(code)
}

// opener returns a function that opens engines on the cluster.
func opener(t *testing.T) func(t *testing.T, prefix string, fold engine.Fold) *tikv.Engine {
	address := realCluster(t)
	return func(t *testing.T, prefix string, fold engine.Fold) *tikv.Engine {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // cleanups connect too, after t.Context has ended
		defer cancel()
		cluster, err := tikv.Connect(ctx, address, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		e, err := tikv.Open(cluster, tikv.Options{Prefix: prefix, KeepVersions: true}, fold)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
}

// TestContention adds to a number under one guard on three engines at a time, each with many at once. Meanwhile its
// region is split.
func TestContention(t *testing.T) {
	open := opener(t)
	prefix := fmt.Sprintf("cqld-test-%d-contention", time.Now().Unix())
	key := []byte("number")
	var adding sync.WaitGroup
	const engines, workers, each = 3, 8, 25
	var all []*tikv.Engine
	for range engines {
		all = append(all, open(t, prefix, enginetest.Union))
	}
	defer func() {
		if err := all[0].DeleteRange(nil, nil); err != nil {
			t.Error(err)
		}
		for _, e := range all {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	read := func(r engine.Reader) (n int, err error) {
		_, err = r.Get(key, func(value []byte) (err error) {
			n, err = strconv.Atoi(string(value))
			return err
		})
		return n, err
	}
	began := time.Now()
	for _, e := range all {
		for range workers {
			adding.Go(func() {
				for range each {
					err := engine.ErrConflict
					for errors.Is(err, engine.ErrConflict) {
						err = engine.Update(t.Context(), e, []byte("guard"), func(x engine.Txn) error {
							n, err := read(x)
							x.Put(key, []byte(strconv.Itoa(n+1)))
							return err
						})
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	all[0].Split([][]byte{[]byte("a"), []byte("number"), []byte("z")})
	adding.Wait()
	n, err := read(all[0])
	if want := engines * workers * each; err != nil || n != want {
		t.Errorf("the number is %d, %v; want %d", n, err, want)
	}
	found("contended conditional writes", "additions per second", fmt.Sprintf("%.0f", float64(n)/time.Since(began).Seconds()))
}

// TestContract runs the suite of the contract. It uses prefixes of its own and deletes what it wrote.
func TestContract(t *testing.T) {
	open := opener(t)
	var opened atomic.Int64
	prefixes := map[engine.Engine]string{}
	enginetest.Run(t, enginetest.Harness{
		MaxValue: 3 << 20, // a store may take no message over 4 MiB, gRPC's default
		Open: func(t *testing.T, fold engine.Fold) engine.Engine {
			prefix := fmt.Sprintf("cqld-test-%d-%d", time.Now().Unix(), opened.Add(1))
			e := open(t, prefix, fold)
			prefixes[e] = prefix
			t.Cleanup(func() {
				last := open(t, prefix, fold)
				if err := last.DeleteRange(nil, nil); err != nil {
					t.Error(err)
				}
				if err := last.Close(); err != nil {
					t.Error(err)
				}
			})
			return e
		},
		Reopen: func(t *testing.T, e engine.Engine, fold engine.Fold) engine.Engine {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			again := open(t, prefixes[e], fold)
			prefixes[again] = prefixes[e]
			return again
		},
	})
}
