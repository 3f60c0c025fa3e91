package exec

import (
	"crypto/rand"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// identifiers makes the values of uuid() and now(), and the places of elements in lists.
type identifiers struct {
	clock  func() time.Time
	times  *types.UUIDClock // it ends in what is drawn when the process starts
	random func() [16]byte
	time   func() [16]byte
}

func newIdentifiers(clock func() time.Time) *identifiers {
	var node [8]byte
	_, _ = rand.Read(node[:]) // it never fails
	times := types.NewUUIDClock(node)
	return &identifiers{
		clock: clock, times: times, random: randomUUID,
		time: func() [16]byte { return times.Next(clock()) },
	}
}

// randomUUID is a version 4 UUID.
func randomUUID() [16]byte {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	return types.RandomUUID(random)
}

// appendPlace appends the place of an element at the end of a list, or at its beginning: behind or in front of all
// others.
func (ids *identifiers) appendPlace(dst []byte, front bool) []byte {
	at := ids.times.Ticks(ids.clock())
	if front {
		at = -at
	}
	return store.AppendPlace(dst, at, ids.times.Rest())
}
