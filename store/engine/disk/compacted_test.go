package disk

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
)

// besideCompactions is how long TestBesideCompactions writes, as time.ParseDuration takes it. make soak has it write
// for minutes.
var besideCompactions = os.Getenv("TEST_CQLD_COMPACTED")

// TestBesideCompactions merges into, puts and deletes keys, many more than a memtable has, while all tables are
// compacted into one level again and again, and opens the folder in between. Every key holds what was acknowledged
// last.
func TestBesideCompactions(t *testing.T) {
	long, keys, value := 3*time.Second, 4000, 500
	if full {
		long = 8 * time.Second
	}
	o := Options{Dir: folder(t), Memtable: 1 << 20, below: badger.Options{MemTable: 1 << 20}, Log: zerolog.Nop()}
	if besideCompactions != "" {
		var err error
		if long, err = time.ParseDuration(besideCompactions); err != nil {
			t.Fatal(err)
		}
		keys, o = 400_000, Options{Dir: t.TempDir(), Log: zerolog.Nop()}
	}
	seed := rand.Uint64()
	t.Log("seed", seed)
	c := &compacted{T: t, random: rand.New(rand.NewPCG(seed, 1)), o: o, holds: make([]uint64, keys), value: value}
	rounds := 3
	for range rounds {
		c.round(long / time.Duration(rounds))
	}
	t.Logf("%d commits", c.commits)
}

// compacted writes to an engine whose tables are compacted meanwhile.
type compacted struct {
	*testing.T
	random  *rand.Rand
	o       Options
	holds   []uint64 // the number that each key holds; 0: it is deleted
	value   int
	commits uint64
}

func compactedKey(i int) []byte { return fmt.Appendf(nil, "row %08x", uint32(i)*2654435761) }

// round opens the folder, writes for some time, and compares everything.
func (c *compacted) round(long time.Duration) {
	e, err := Open(c.o, newest)
	if err != nil {
		c.Fatal(err)
	}
	c.compare(e)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(1500 * time.Millisecond): // in which Badger's own compactions begin: each Flatten stops them
			}
			if err := e.badger.Compact(); err != nil {
				c.Error(err)
				return
			}
		}
	}()
	for end := time.Now().Add(long); time.Now().Before(end); {
		for range 1000 {
			c.write(e)
		}
	}
	close(stop)
	<-stopped
	c.compare(e)
	if err := e.Close(); err != nil {
		c.Fatal(err)
	}
}

// write changes a key.
func (c *compacted) write(e *Engine) {
	c.commits++
	i := c.random.IntN(len(c.holds))
	n := 1 + c.value/2 + c.random.IntN(c.value)
	if c.random.IntN(20_000) == 0 {
		n = c.random.IntN(2 << 20) // longer than a chunk
	}
	op := engine.Op{Kind: engine.Merge, Key: compactedKey(i)}
	op.Value = append(binary.BigEndian.AppendUint64(nil, c.commits), make([]byte, n)...)
	c.holds[i] = c.commits
	switch c.random.IntN(10) {
	case 0:
		op.Kind, op.Value, c.holds[i] = engine.Delete, nil, 0
	case 1, 2:
		op.Kind = engine.Put
	}
	if err := commit(e, op); err != nil {
		c.Fatal(err)
	}
}

func (c *compacted) compare(e *Engine) {
	c.Helper()
	wrong := 0
	for i, want := range c.holds {
		var got uint64
		_, err := e.Get(compactedKey(i), func(v []byte) error {
			got = binary.BigEndian.Uint64(v)
			return nil
		})
		if err != nil {
			c.Fatal(err)
		}
		if got != want {
			if wrong++; wrong < 5 {
				c.Errorf("key %d holds %d, want %d", i, got, want)
			}
		}
	}
	if wrong > 0 {
		c.Fatalf("%d of %d keys are wrong after %d commits", wrong, len(c.holds), c.commits)
	}
}
