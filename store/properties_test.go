package store

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What TestPropertyHistories runs. make properties wants a million histories. When one fails, it says what runs it
// alone.
var (
	histories = flag.Int("histories", 2000, "how many random histories to compare with the model")
	seed      = flag.Uint64("seed", 1, "what the histories are drawn from")
	history   = flag.Int("history", -1, "the only history to run")
)

// onOthers is how many histories run on a hostile engine for one that runs on Badger and one on the engine in memory.
const onOthers = 50

// onGrounds is how many histories run on the same engines: what they leave behind slows down those that follow.
const onGrounds = 5000

// TestPropertyHistories writes random histories to the store, in several orders and groupings and with sweeps in
// between, and compares what all kinds of reads give with the model. Short histories are folded in every order too.
func TestPropertyHistories(t *testing.T) {
	next, to := atomic.Int64{}, *histories
	if *history >= 0 {
		next.Store(int64(*history))
		to = *history + 1
	}
	var orders, reads atomic.Int64
	began := time.Now()
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			grounds := openGrounds(t)
			defer func() { grounds.close(t) }()
			for played := 1; ; played++ {
				if played%onGrounds == 0 {
					grounds.close(t)
					grounds = openGrounds(t)
				}
				n := int(next.Add(1)) - 1
				if n >= to || t.Failed() {
					return
				}
				if n%100_000 == 0 && n > 0 {
					t.Logf("seed %d: %d histories, %v", *seed, n, time.Since(began).Round(time.Second))
				}
				p := newPlayer(*seed, n, grounds)
				if err := p.play(); err != nil {
					p.shrink()
					t.Errorf("-seed %d -history %d: %v\nThese fail too: %v\n%s",
						*seed, n, err, p.play(), strings.Join(p.texts(), "\n"))
				}
				orders.Add(int64(p.orders))
				reads.Add(int64(p.reads))
			}
		})
	}
	workers.Wait()
	t.Logf("seed %d: %d histories, folded in %d orders, %d reads, %v",
		*seed, to, orders.Load(), reads.Load(), time.Since(began).Round(time.Millisecond))
}

// player plays one history.
type player struct {
	*ground
	seed   uint64
	number int
	random *rand.Rand
	writes model
	orders int // in which it was folded
	reads  int
}

// newPlayer draws a history and where it is played.
func newPlayer(seed uint64, number int, g grounds) *player {
	r := rand.New(rand.NewPCG(seed, uint64(number)))
	engine := "hostile"
	switch number % onOthers {
	case 0:
		engine = "disk"
	case 1:
		engine = "memory"
	}
	hasty := r.IntN(4) == 0
	p := &player{ground: g[groundKind{engine, hasty}], seed: seed, number: number}
	p.choose(r)
	size := 1 + r.IntN(5)
	if r.IntN(3) == 0 {
		size = 6 + r.IntN(20)
	}
	for range size {
		p.writes = append(p.writes, p.draw(r))
	}
	return p
}

// shrink takes out writes as long as the rest fails.
func (p *player) shrink() {
	for i := 0; i < len(p.writes); {
		whole := p.writes
		p.writes = append(append(model{}, whole[:i]...), whole[i+1:]...)
		if p.play() == nil {
			p.writes = whole
			i++
		}
	}
}

func (p *player) texts() (texts []string) {
	for _, w := range p.writes {
		texts = append(texts, w.String())
	}
	return texts
}

// play returns what is wrong. It does the same each time.
func (p *player) play() error {
	p.random = rand.New(rand.NewPCG(p.seed+1, uint64(p.number)))
	p.hostile(uint64(p.number))
	if err := p.foldAll(); err != nil {
		return err
	}
	for range 1 + p.random.IntN(2) {
		p.random.Shuffle(len(p.writes), func(i, j int) { p.writes[i], p.writes[j] = p.writes[j], p.writes[i] })
		if err := p.empty(); err != nil {
			return err
		}
		if err := p.run(); err != nil {
			return err
		}
	}
	return nil
}

// run writes all, and reads now and then. The patient sweep in between, of which nothing may ever be seen. The hasty
// do at the end: of what is written later a part may be hidden by what they took out.
func (p *player) run() error {
	now := int64(97)
	for done := 0; done < len(p.writes); {
		n := min(1+p.random.IntN(4), len(p.writes)-done)
		if err := p.write(p.writes[done : done+n]); err != nil {
			return err
		}
		done += n
		if !p.counters() && p.random.IntN(6) == 0 { // again
			if err := p.write(p.writes[p.random.IntN(done):done]); err != nil {
				return err
			}
		}
		if p.hasty || p.random.IntN(3) > 0 {
			continue
		}
		now += int64(p.random.IntN(3))
		if err := p.sweep(now); err != nil {
			return err
		}
		if err := p.compare(p.writes[:done], now); err != nil {
			return fmt.Errorf("after %d writes: %w", done, err)
		}
	}
	if p.hasty {
		now = pick(p.random, int64(3), 99, 100, 101, 102, 103, 104, 108, 5000)
		if err := p.sweep(now); err != nil {
			return err
		}
		return p.compare(p.writes, now)
	}
	for _, now := range []int64{max(now, 99), max(now, 100+int64(p.random.IntN(5))), 200} {
		if err := p.compare(p.writes, now); err != nil {
			return err
		}
	}
	return nil
}
