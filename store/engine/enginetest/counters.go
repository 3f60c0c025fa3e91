package enginetest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cqld/cqld/store/engine"
)

// getsAreOfOneSnapshot counts in pairs of keys, one of a pair with an Update and the other with merged
// words, while readers get both keys of a view in either order: the two agree, also when they are read
// again, and no count is less than one that was seen or committed before.
func getsAreOfOneSnapshot(t *testing.T, e engine.Engine) {
	const pairs, each = 4, 60
	var committed [pairs]atomic.Int64
	var writers, readers sync.WaitGroup
	for p := range pairs {
		writers.Go(func() {
			for i := range each {
				if err := count(e, p, i); err != nil {
					t.Errorf("count %d of pair %d: %v", i, p, err)
				}
				committed[p].Store(int64(i + 1))
			}
		})
	}
	stop := make(chan struct{})
	for r := range 3 {
		readers.Go(func() {
			var seen [pairs]int
			for i := r; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				p := i % pairs
				least := max(seen[p], int(committed[p].Load()))
				if seen[p] = counted(t, e, p, i%2 == 0); seen[p] < least {
					t.Errorf("pair %d is at %d after %d", p, seen[p], least)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	for p := range pairs {
		if n := counted(t, e, p, true); n != each {
			t.Errorf("pair %d ends at %d, want %d", p, n, each)
		}
	}
}

// count adds one to a pair's count, sometimes after deleting it and with another commit after it.
func count(e engine.Engine, pair, i int) error {
	number, words := []byte(fmt.Sprint("number", pair)), []byte(fmt.Sprint("words", pair))
	err := update(e, string(number), func(txn engine.Txn) error {
		n := 0
		_, err := txn.Get(number, func(v []byte) (err error) {
			n, err = strconv.Atoi(string(v))
			return err
		})
		if i%8 == 0 {
			txn.Delete(number)
		}
		txn.Put(number, []byte(strconv.Itoa(n+1)))
		txn.Merge(words, []byte(fmt.Sprint("w", i)))
		return err
	})
	if err == nil && i%4 == 0 {
		err = commit(e, merge(fmt.Sprint("other", i), strings.Repeat("x", 100*i+1)))
	}
	return err
}

// counted reads a pair's count in one view.
func counted(t *testing.T, e engine.Engine, pair int, wordsFirst bool) int {
	var numbers, words [2]int
	read := func(r engine.Reader, i int) error {
		for _, w := range []bool{wordsFirst, !wordsFirst} {
			key := fmt.Sprint("number", pair)
			if w {
				key = fmt.Sprint("words", pair)
			}
			_, err := r.Get([]byte(key), func(v []byte) (err error) {
				if w {
					words[i] = len(strings.Fields(string(v)))
				} else {
					numbers[i], err = strconv.Atoi(string(v))
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	err := e.View(func(r engine.Reader) error {
		if err := read(r, 0); err != nil {
			return err
		}
		return read(r, 1)
	})
	if err != nil || numbers[0] != words[0] || numbers != words || numbers[0] != numbers[1] {
		t.Errorf("a view of pair %d has the numbers %d and %d words, error %v", pair, numbers, words, err)
	}
	return numbers[0]
}
