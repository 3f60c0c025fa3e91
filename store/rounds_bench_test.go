package store

import (
	"bytes"
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
)

// processorTime is what the process spends while fn runs.
func processorTime(fn func()) time.Duration {
	before := spent()
	fn()
	return spent() - before
}

func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// runStore does an operation with as many rows; inserts begin behind those before.
func runStore(b *testing.B, s *Store, t *schema.Table, op string, from, rows int) {
	b.Helper()
	switch op {
	case "insert":
		insertFrom(b, s, t, from, rows)
	case "update":
		updateRows(b, s, t, rows)
	case "get":
		readEach(b, s, t, rows)
	case "slice":
		readSlices(b, s, t, rows)
	case "scan":
		readAll(b, s, t, rows)
	}
}

// updateRows sets one column of each row, 64 rows at a time.
func updateRows(b *testing.B, s *Store, t *schema.Table, n int) {
	value := bytes.Repeat([]byte("y"), 100)
	for i := 0; i < n; i += 64 {
		var ms []*Mutation
		for j := i; j < min(i+64, n); j++ {
			k, c := make([]byte, 8), make([]byte, 8)
			benchKey(k, c, j)
			m := NewMutation(t, k)
			m.Row([][]byte{c})
			m.Set(t.Regular[1], value, s.Timestamp(), Expiry{})
			ms = append(ms, m)
		}
		if err := apply(s, ms...); err != nil {
			b.Fatal(err)
		}
	}
}

// readEach reads rows one by one in an order that is not theirs.
func readEach(b *testing.B, s *Store, t *schema.Table, n int) {
	var k, c [8]byte
	clustering := [][]byte{c[:]}
	read := Read{Table: t, Keys: [][]byte{k[:]}, Slices: []Slice{{clustering, clustering, true, true}}}
	found := 0
	count := func(*Row) (bool, error) { found++; return true, nil }
	for i := range n {
		benchKey(k[:], c[:], i*7919%n)
		if err := s.Read(context.Background(), &read, count); err != nil {
			b.Fatal(err)
		}
	}
	checkFound(b, found, n)
}

// readSlices reads all rows, 100 at a time.
func readSlices(b *testing.B, s *Store, t *schema.Table, n int) {
	found := 0
	for i := 0; i < n; i += 100 {
		k, from, to := make([]byte, 8), make([]byte, 8), make([]byte, 8)
		benchKey(k, from, i)
		benchKey(k, to, i+99)
		read := Read{Table: t, Keys: [][]byte{k}, Slices: []Slice{{[][]byte{from}, [][]byte{to}, true, true}}}
		if err := s.Read(context.Background(), &read, func(*Row) (bool, error) { found++; return true, nil }); err != nil {
			b.Fatal(err)
		}
	}
	checkFound(b, found, n)
}

func readAll(b *testing.B, s *Store, t *schema.Table, n int) {
	found := 0
	if err := s.Read(context.Background(), &Read{Table: t},
		func(*Row) (bool, error) { found++; return true, nil }); err != nil {
		b.Fatal(err)
	}
	checkFound(b, found, n)
}

func checkFound(b *testing.B, found, want int) {
	b.Helper()
	if found != want {
		b.Fatalf("%d of %d rows found", found, want)
	}
}
