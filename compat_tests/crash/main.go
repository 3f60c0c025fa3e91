// Command crash starts cqld on a folder, writes over several connections, kills it, and starts it again on the same
// folder. Then it checks the durability guarantees: acknowledged writes are stored, a batch is stored as a whole or not
// at all, and nothing is stored that was not sent. It repeats this many times on the same folder, for each value of
// --commitlog-sync, and prints its findings. At times it kills a server while it opens or closes the folder.
//
//	crash [-rounds N] [-mode periodic,batch] [-cut]
//
// With -cut the folder is on a separate disk, a mounted file, and each kill is a power cut: the disk loses everything
// that cqld has not synced. That needs Linux and root. In the mode periodic a power cut may lose the writes of the last
// second, but no write that is older than a stored one.
//
// Between kills cqld verify compares tables with their indexes and views, and files with their checksums.
//
// A ledger knows the allowed states (see ledger); kinds are the kinds of writes (see kinds.go).
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

func main() {
	rounds := flag.Int("rounds", 100, "how often each mode's server is killed")
	modes := flag.String("mode", "periodic,batch", "the values of --commitlog-sync")
	cut := flag.Bool("cut", false, "cut the power of the disk as well; needs root")
	seed := flag.Uint64("seed", rand.Uint64(), "decides the writes and the times of the kills")
	flag.Parse()
	if err := run(strings.Split(*modes, ","), *rounds, *cut, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

// run does all rounds of all modes.
func run(modes []string, rounds int, cut bool, seed uint64) error {
	folder, err := os.MkdirTemp("", "cqld-crash")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, "cqld")
	if err := process.Build(binary); err != nil {
		return err
	}
	fmt.Println("seed", seed)
	for i, mode := range modes {
		t := &trial{binary: binary, mode: mode, random: rand.New(rand.NewPCG(seed, uint64(i))), data: filepath.Join(folder, mode)}
		if cut {
			d, err := newDisk(filepath.Join(folder, mode+"-disk"))
			if err != nil {
				return err
			}
			t.disk, t.data = d, filepath.Join(d.mount, "data")
		}
		err := t.run(rounds)
		if t.disk != nil {
			err = errors.Join(err, t.disk.remove())
		}
		if err != nil {
			return err
		}
		fmt.Println(t.report())
		if t.wrong > 0 {
			return fmt.Errorf("%d things are not as they must be", t.wrong)
		}
	}
	return nil
}

// report sums the rounds up.
func (t *trial) report() string {
	slices.Sort(t.opened)
	what := "kill -9"
	if t.disk != nil {
		what = "power cut"
	}
	return fmt.Sprintf("%s, %s: %d rounds, %d writes acknowledged, %d unanswered (%d of them found), %d lost in the window (up to %d ms before the cut), %d wrong, %d times verified; "+
		"open afterwards: median %d ms, worst %d ms",
		what, t.mode, len(t.opened), t.ledger.acknowledged, t.ledger.unanswered, t.ledger.found, t.lost,
		t.oldest.Milliseconds(), t.wrong, t.verified,
		t.opened[len(t.opened)/2].Milliseconds(), t.opened[len(t.opened)-1].Milliseconds())
}

// workers is how many connections write at a time.
const workers = 8

// minRun and maxRun bound how long a server is written to before it is killed. longOpen and longClose are how long
// opening and closing may take: a server is killed at random within them.
const (
	minRun    = 100 * time.Millisecond
	maxRun    = 1500 * time.Millisecond
	longOpen  = 150 * time.Millisecond
	longClose = 30 * time.Millisecond
)
