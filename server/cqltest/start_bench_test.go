package cqltest_test

import (
	"context"
	"testing"

	"github.com/cqld/cqld/server/cqltest"
)

// BenchmarkRunT starts and stops servers.
func BenchmarkRunT(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := cqltest.RunT(b).Stop(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
