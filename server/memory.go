package server

import (
	"sync/atomic"

	"github.com/cqld/cqld/store/pace"
)

// memory is what is held for clients, in shares that wait for nothing but what stands below them: arriving messages
// become requests, long texts of requests are planned, plans make answers, and clients read these.
type memory struct {
	arriving pace.Room    // read buffers and bodies that are unfolded, beyond what every connection has
	requests pace.Room    // bodies of requests that are not answered
	asides   atomic.Int64 // goroutines of requests
	planning pace.Room    // what parsing long texts takes
	writes   pace.Room    // bodies of large writes that are not answered: others' wait behind them in the store
	answers  *pace.Room   // rows that reads have made, and answers that are not read

	maxUnread int          // Limits.Unread
	unread    atomic.Int64 // connections whose unread answers are charged to the room
}

// maxHeavy is how many bytes of large writes the store may have to write at a time, or else one of them.
const maxHeavy = 1 << 20

// maxAsides is how many requests of all connections may have a goroutine, but for a few that each connection may have.
const maxAsides = 1024

func (m *memory) init(l *Limits) {
	m.arriving.Init(l.Memory / 4)
	m.requests.Init(l.BytesInFlight)
	m.planning.Init(l.Memory / 4)
	m.writes.Init(maxHeavy)
	m.answers = pace.NewRoom(l.Memory / 4)
	m.maxUnread = l.Unread
}

// allowance is how many bytes of answers a connection may leave unread and still be served.
func (m *memory) allowance() int64 {
	share := m.answers.Limit() / 2 / max(1, m.unread.Load())
	return min(int64(m.maxUnread), max(share, chargeStep))
}

// chargeStep is in what steps answers that are not read are charged to the room: those of clients that read what they ask
// for are not.
const chargeStep = 64 << 10
