package tikv

import (
	"context"
	"strconv"
	"syscall"
	"testing"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// processorTime is what the process has used of processors so far, in nanoseconds.
func processorTime(b *testing.B) int64 {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

// BenchmarkRequests measures what requests cost on the cluster in the process, which is a part of what is measured.
func BenchmarkRequests(b *testing.B) {
	c, err := tikvtest.Open(1)
	if err != nil {
		b.Fatal(err)
	}
	store, err := c.Dial(nil)
	if err != nil {
		b.Fatal(err)
	}
	e, err := Open(store, Options{Prefix: "bench", KeepVersions: true}, enginetest.Union)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	key := func(i int) string { return "key" + strconv.Itoa(i%1000) }
	for i := range 1000 {
		if err := commit(e, put(key(i), "value")); err != nil {
			b.Fatal(err)
		}
	}
	inserted := 0
	for _, x := range []struct {
		name string
		run  func(i int) error
	}{
		{"get", func(i int) error {
			_, err := e.Get([]byte(key(i)), func([]byte) error { return nil })
			return err
		}},
		{"view", func(i int) error {
			return e.View(func(r engine.Reader) error {
				_, err := r.Get([]byte(key(i)), func([]byte) error { return nil })
				return err
			})
		}},
		{"insert", func(int) error {
			inserted++
			return commit(e, merge("new"+strconv.Itoa(inserted), "value"))
		}},
		{"update", func(i int) error {
			return engine.Update(context.Background(), e, []byte(key(i)), func(x engine.Txn) error {
				_, err := x.Get([]byte(key(i)), func([]byte) error { return nil })
				x.Put([]byte(key(i)), []byte("value"))
				return err
			})
		}},
	} {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			before := processorTime(b)
			for i := range b.N {
				if err := x.run(i); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}
