package server

import "testing"

func TestObserveAllocatesNothing(t *testing.T) {
	r := request{latency: newLatencies(nil).of("select", nil), began: monotonic()}
	if n := testing.AllocsPerRun(100, r.observe); n != 0 {
		t.Errorf("%v allocations for each execution", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	r := request{latency: newLatencies(nil).of("select", nil), began: monotonic()}
	for b.Loop() {
		r.observe()
	}
}
