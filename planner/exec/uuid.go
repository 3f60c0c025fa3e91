package exec

import (
	"crypto/rand"
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/store"
)

// identifiers makes the values of uuid() and now(), and the places of elements in lists.
type identifiers struct {
	clock  func() time.Time
	node   [8]byte      // clock sequence and node of time UUIDs: drawn when the process starts
	last   atomic.Int64 // the time of the last time UUID
	random func() [16]byte
	time   func() [16]byte
}

func newIdentifiers(clock func() time.Time) *identifiers {
	ids := &identifiers{clock: clock, random: randomUUID}
	_, _ = rand.Read(ids.node[:]) // it never fails
	ids.node[0] = ids.node[0]&0x3f | 0x80
	ids.node[2] |= 0x01 // a multicast address: nobody's network card
	ids.time = ids.timeUUID
	return ids
}

// randomUUID is a version 4 UUID.
func randomUUID() (u [16]byte) {
	_, _ = rand.Read(u[:]) // it never fails
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u
}

// gregorian is the number of 100 ns steps from 1582-10-15, where time UUIDs begin to count, to 1970.
const gregorian = 0x01b21dd213814000

// moment is the time in steps of 100 ns since 1582-10-15, later than all moments before.
func (ids *identifiers) moment() int64 {
	now := ids.clock().UnixNano()/100 + gregorian
	for {
		last := ids.last.Load()
		if at := max(now, last+1); ids.last.CompareAndSwap(last, at) {
			return at
		}
	}
}

// timeUUID is a version 1 UUID, later than all before.
func (ids *identifiers) timeUUID() (u [16]byte) {
	t := uint64(ids.moment())
	binary.BigEndian.PutUint32(u[0:], uint32(t))
	binary.BigEndian.PutUint16(u[4:], uint16(t>>32))
	binary.BigEndian.PutUint16(u[6:], uint16(t>>48)&0x0fff|0x1000)
	copy(u[8:], ids.node[:])
	return u
}

// appendPlace appends the place of an element at the end of a list, or at its beginning (front).
func (ids *identifiers) appendPlace(dst []byte, front bool) []byte {
	at := ids.moment()
	if front {
		at = -at
	}
	return store.AppendPlace(dst, at, binary.BigEndian.Uint64(ids.node[:]))
}
