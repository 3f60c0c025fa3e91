package wire

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// writes notes when its sockets were written to.
type writes struct {
	mu    sync.Mutex
	times map[time.Time]int
}

// notedSocket takes everything.
type notedSocket struct {
	net.Conn
	all   *writes
	took  bytes.Buffer
	times int
}

func (s *notedSocket) Write(b []byte) (int, error) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.all.times[time.Now()]++
	s.times++
	return s.took.Write(b)
}

// Events go out in bursts, each connection gets all of its own at once and in order, and an answer takes them along
// without waiting for its turn.
func TestEventBursts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const connections = 5*eventBurst + 1
		a := Answers{Room: pace.NewRoom(28 << 20), MaxUnread: 4 << 20}
		all := writes{times: map[time.Time]int{}}
		outputs, sockets := make([]Output, connections), make([]notedSocket, connections)
		var queue EventQueue
		var want []byte
		var added []*Output
		began := time.Now()
		for _, name := range []string{"a", "b"} {
			event := protocol.Event{Type: protocol.SchemaChanges, Schema: protocol.SchemaChange{
				Change: "CREATED", Target: "KEYSPACE", Keyspace: name,
			}}
			want = protocol.AppendResponse(want, protocol.V4, protocol.EventStream, nil, &event)
			for i := range outputs {
				o := &outputs[i]
				if name == "a" {
					sockets[i].all = &all
					o.Taken, o.Failed = func() {}, func() {}
					o.Init(&sockets[i], &a)
					o.encoder.Version = protocol.V4
				}
				if first := o.AppendEvent(&event); first != (name == "a") {
					t.Fatalf("the event %s of output %d: first is %t", name, i, first)
				} else if first {
					added = append(added, o)
				}
			}
		}
		queue.Add(added)
		last := connections - 1
		outputs[last].Append(7, nil, &protocol.Ready{})
		synctest.Wait()
		all.mu.Lock()
		if sockets[last].times != 1 || time.Since(began) != 0 {
			t.Errorf("after %s an answer behind two events was written %d times", time.Since(began), sockets[last].times)
		}
		all.mu.Unlock()
		time.Sleep(time.Hour)
		all.mu.Lock()
		defer all.mu.Unlock()
		for at, n := range all.times {
			if n > eventBurst+1 { // the answer
				t.Errorf("after %s %d connections were written to", at.Sub(began), n)
			}
		}
		if len(all.times) != 5 {
			t.Errorf("the events of %d connections took %d bursts", connections, len(all.times))
		}
		for i := range sockets {
			got := sockets[i].took.Bytes()
			if i == last {
				got, _ = bytes.CutSuffix(got, protocol.AppendResponse(nil, protocol.V4, 7, nil, &protocol.Ready{}))
			}
			if !bytes.Equal(got, want) || sockets[i].times != 1 {
				t.Fatalf("connection %d got %q in %d writes, want %q in one", i, got, sockets[i].times, want)
			}
		}
		var again []*Output
		for range 2 * eventBurst {
			o := &outputs[len(again)]
			o.AppendEvent(&protocol.Event{Type: protocol.SchemaChanges})
			o.fail(net.ErrClosed)
			again = append(again, o)
		}
		began = time.Now()
		queue.Add(again)
		synctest.Wait()
		if queue.busy || !time.Now().Equal(began) {
			t.Error("connections that have ended are waited for")
		}
	})
}
