package server

import (
	"encoding/binary"
	"sync/atomic"
	"time"
)

// timeUUIDs makes version 1 UUIDs for traces. No two are equal, and later ones sort behind earlier ones.
type timeUUIDs struct {
	node [8]byte // clock sequence and node
	last atomic.Int64
}

// gregorian is the number of 100 ns steps from 1582-10-15, where time UUIDs begin to count, to 1970.
const gregorian = 0x01b21dd213814000

// newTimeUUIDs takes the node from random bytes that stay the same.
func newTimeUUIDs(seed [16]byte) *timeUUIDs {
	u := new(timeUUIDs)
	copy(u.node[:], seed[8:])
	u.node[0] = u.node[0]&0x3f | 0x80 // the variant
	u.node[2] |= 1                    // a node that is no network card
	return u
}

// next returns the UUID of a time, or of the first later moment that has no UUID yet.
func (u *timeUUIDs) next(t time.Time) (id [16]byte) {
	ticks := t.UnixNano()/100 + gregorian
	for {
		last := u.last.Load()
		ticks = max(ticks, last+1)
		if u.last.CompareAndSwap(last, ticks) {
			break
		}
	}
	binary.BigEndian.PutUint32(id[0:], uint32(ticks))
	binary.BigEndian.PutUint16(id[4:], uint16(ticks>>32))
	binary.BigEndian.PutUint16(id[6:], uint16(ticks>>48)&0x0fff|0x1000)
	copy(id[8:], u.node[:])
	return id
}
