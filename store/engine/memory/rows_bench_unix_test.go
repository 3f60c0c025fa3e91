//go:build unix

package memory

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

const (
	benchPartition = 100 // rows
	benchCells     = 5
	benchCellBytes = 103 // column, flags, length, value
)

// BenchmarkRows measures tables of 56 and 560 MB, which no CPU cache holds: partitions of 100 rows, each with five
// columns of 100 bytes in the format of store/rows. In "slices" the partitions were written one after the other, so
// their rows are consecutive in memory; in "shuffled" the rows were written in random order. cpu-ns/op includes garbage
// collection.
func BenchmarkRows(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		for _, shuffled := range []bool{false, true} {
			name := "slices"
			if shuffled {
				name = "shuffled"
			}
			b.Run(fmt.Sprint(n, " ", name), func(b *testing.B) { benchmarkRows(b, n, shuffled) })
		}
	}
}

func benchmarkRows(b *testing.B, n int, shuffled bool) {
	r := rand.New(rand.NewPCG(1, 2))
	value := append([]byte{1}, binary.AppendVarint(nil, 1_700_000_000_000_000)...)
	for column := range byte(benchCells) {
		value = append(append(value, column, 0, benchCellBytes-3), make([]byte, benchCellBytes-3)...)
	}
	before, key := heap(), make([]byte, 28)
	at := func(i int) []byte { // the token is pseudo-random
		partition := uint64(i / benchPartition)
		binary.BigEndian.PutUint32(key, 2000)
		binary.BigEndian.PutUint64(key[4:], (partition+1)*0x9e3779b97f4a7c15)
		binary.BigEndian.PutUint64(key[12:], partition<<16)
		binary.BigEndian.PutUint64(key[20:], 2<<56|uint64(i%benchPartition))
		return key
	}
	e := Open(enginetest.Union)
	done := func(err error) {
		if err != nil {
			b.Error(err)
		}
	}
	ops := []engine.Op{{Value: value}}
	write := func(i int) {
		ops[0].Key = at(i)
		e.Commit(ops, done)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if shuffled {
		r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	started := cpuTime()
	for _, i := range order {
		write(i)
	}
	loaded := cpuTime() - started
	order = nil
	bytes := float64(heap()-before) / float64(n)
	started = cpuTime()
	const collections = 5
	for range collections {
		runtime.GC()
	}
	collected := (cpuTime() - started) / collections
	b.Run("load", func(b *testing.B) {
		for range b.N {
			b.ReportMetric(float64(loaded)/float64(n), "cpu-ns/op")
			b.ReportMetric(bytes, "B/row")
			b.ReportMetric(float64(collected)/float64(n), "gc-ns/row")
		}
	})
	result := make([]byte, 0, benchPartition*benchCells*benchCellBytes)
	read := func(value []byte) error { // as the store does: it finds the cells, and copies their values
		for cells := value[9:]; len(cells) > 0; cells = cells[benchCellBytes:] {
			result = append(result, cells[3:3+cells[2]]...)
		}
		return nil
	}
	bench := func(name string, operation func()) {
		b.Run(name, func(b *testing.B) {
			started := cpuTime()
			for range b.N {
				operation()
			}
			b.ReportMetric(float64(cpuTime()-started)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(0, "ns/op")
		})
	}
	slice := func() {
		result = result[:0]
		count := 0
		err := e.Scan(at(r.IntN(n)/benchPartition*benchPartition), nil, engine.ScanOptions{},
			func(_, value []byte) (bool, error) {
				count++
				return count < benchPartition, read(value)
			})
		if err != nil {
			b.Fatal(err)
		}
	}
	bench("slice", slice)
	bench("get", func() {
		result = result[:0]
		if found, err := e.Get(at(r.IntN(n)), read); !found || err != nil {
			b.Fatal(found, err)
		}
	})
	bench("overwrite", func() { write(r.IntN(n)) })
	for range n {
		write(r.IntN(n))
	}
	bench("slice after overwrites", slice)
	b.Run("after overwrites", func(b *testing.B) {
		for range b.N {
			b.ReportMetric(float64(heap()-before)/float64(n), "B/row")
		}
	})
	next := n
	bench("insert", func() { // one partition after the other
		write(next)
		next++
	})
	spread := uint64(0)
	bench("insert shuffled", func() {
		spread++
		write(n + 1<<30 + int(spread*0x9e3779b97f4a7c15>>36)*benchPartition)
	})
	runtime.KeepAlive(e)
}

// cpuTime is the CPU time that the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
