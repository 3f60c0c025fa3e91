package server

import (
	"sync/atomic"

	"github.com/cqld/cqld/store/pace"
)

// memory is what the server holds for clients. Work in one room waits only for rooms below it: arriving messages become
// requests, long texts of requests are planned, plans make answers, and clients read the answers.
type memory struct {
	arriving    pace.Room    // read buffers and decompressed bodies, beyond what every connection has
	requests    pace.Room    // bodies of requests that are not answered
	goroutines  atomic.Int64 // of requests
	planning    pace.Room    // what parsing and planning long texts takes
	largeWrites pace.Room    // bodies of large writes that are not answered: other writes wait behind them in the store
	answers     *pace.Room   // rows that reads have made, and answers that clients have not read

	maxUnread int          // Limits.Unread
	unread    atomic.Int64 // how many connections have unread answers that answers is charged for
}

// maxLargeWrites is how many bytes of large writes the store may have to write at a time. A single write may be larger.
const maxLargeWrites = 1 << 20

func (m *memory) init(l *Limits) {
	m.arriving.Init(l.Memory / 4)
	m.requests.Init(l.BytesInFlight)
	m.planning.Init(l.Memory / 4)
	m.largeWrites.Init(maxLargeWrites)
	m.answers = pace.NewRoom(l.Memory / 4)
	m.maxUnread = l.Unread
}

// allowance is how many bytes of answers a connection may leave unread before it is not served any more.
func (m *memory) allowance() int64 {
	share := m.answers.Limit() / 2 / max(1, m.unread.Load())
	return min(int64(m.maxUnread), max(share, chargeStep))
}

// chargeStep is the step in which memory.answers is charged for unread answers. Clients that read their answers stay
// below one step.
const chargeStep = 64 << 10
