package tikv

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/store/engine"
)

// TestCommitsTogether makes many commits while the stores answer none. Those that wait are committed together, also
// where they write to the same key, and what cannot be committed is refused alone.
func TestCommitsTogether(t *testing.T) {
	c := tikvtest.New(t, 1)
	goOn := make(chan struct{})
	e := open(t, c.ConnectThrough(t, func(r *tikvrpc.Request, send func() error) error {
		if r.Type == tikvrpc.CmdPrewrite {
			<-goOn
		}
		return send()
	}))
	value(t, e, "k") // the region is known from here on
	const commits = 100
	done := make(chan error, commits+2)
	note := func(err error) { done <- err }
	before := c.Requests.Load()
	for i := range commits {
		e.Commit([]engine.Op{put(fmt.Sprint("k", i), "v"), merge("all", string(rune('A'+i%26)))}, note)
	}
	tooLong := merge("all", string(bytes.Repeat([]byte("x"), maxValue+1)))
	if err := commit(e, tooLong); !errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("a commit that is too large ends with %v", err)
	}
	e.Commit([]engine.Op{del("gone")}, note)
	close(goOn)
	for range commits + 1 {
		must(t, <-done)
	}
	// Two requests for each of the transactions that were under way, of those behind them and of the deletion, and one
	// that reads for the deletion.
	if n := c.Requests.Load() - before; n > 2*(maxLaneTransactions+4+1)+1 {
		t.Errorf("%d commits make %d requests", commits, n)
	}
	for i := range commits {
		expect(t, "a key", value(t, e, fmt.Sprint("k", i)), "v")
	}
	expect(t, "what all have merged into", value(t, e, "all"), "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z")
	for left := 1; left > 0; time.Sleep(time.Millisecond) { // until the last one sees that nothing is under way for it
		e.lanes.mu.Lock()
		left = len(e.lanes.of)
		e.lanes.mu.Unlock()
	}
}
