package memory

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// BenchmarkEngine measures single operations on 200,000 rows with values of 560 bytes, in an order that is not theirs.
func BenchmarkEngine(b *testing.B) {
	const n = 200_000
	e := Open(enginetest.Union)
	value := make([]byte, 560)
	perm := rand.New(rand.NewPCG(1, 2)).Perm(n)
	fill(b, e, n, value, func(i int) int { return perm[i] })
	key := numbered(0)
	at := func(i int) []byte {
		copy(key, numbered(perm[i*7919%n]))
		return key
	}
	ops := []engine.Op{{Value: value}}
	done := func(err error) {
		if err != nil {
			b.Error(err)
		}
	}
	write := func(i int) {
		ops[0].Key = at(i)
		e.Commit(ops, done)
	}
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			if found, _ := e.Get(at(i), func([]byte) error { return nil }); !found {
				b.Fatal("it is not there")
			}
		}
	})
	b.Run("overwrite", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			write(i)
		}
	})
	b.Run("overwrite and get", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			write(i)
			if found, _ := e.Get(key, func([]byte) error { return nil }); !found {
				b.Fatal("it is not there")
			}
		}
	})
	b.Run("overwrite in a fork", func(b *testing.B) {
		fork := e.Fork()
		b.ReportAllocs()
		for i := range b.N {
			ops[0].Key = at(i)
			fork.Commit(ops, done)
		}
	})
	for _, each := range []int{1, 64} {
		b.Run(fmt.Sprintf("overwrite, a snapshot every %d", each), func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				if i%each == 0 {
					e.Snapshot()
				}
				write(i)
			}
		})
	}
	b.Run("scan of 100", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			n := 0
			err := e.Scan(at(i), nil, engine.ScanOptions{}, func(_, _ []byte) (bool, error) {
				n++
				return n < 100, nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("insert", func(b *testing.B) {
		e := Open(enginetest.Union)
		b.ReportAllocs()
		for i := range b.N {
			ops[0].Key = numbered(int(uint32(i) * 2654435761))
			e.Commit(ops, done)
		}
	})
}
