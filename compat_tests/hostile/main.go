// Command hostile checks that a server survives hostile or unlucky clients: they request much and read nothing, send
// texts that grow when they are parsed, disconnect halfway, or come by the thousand. It starts cqld as a separate
// process, fills some tables, and runs one attack after the other (attacks.go lists them) while a well-behaved client
// is connected. It prints the measurements of the server and of that client, and fails if a bound is broken
// (bounds.go). With -cage the system enforces the memory limit (system_linux.go).
//
//	hostile [-run NAME,NAME] [-quick] [-memory] [-limit 512MiB] [-cage 512MiB] [-time 10m]
//
// An attack goes like this (trial.go):
//
//	rest     only the neighbour is connected, until the server is idle; memory, goroutines and descriptors are recorded
//	press    the attack runs, for the time given in the table
//	leave    its connections are closed at once; the processors must be free soon
//	settle   memory, goroutines and descriptors must be as before
//
// After all attacks, some run again while the server is stopped.
//
// The attackers are a separate process (attackers.go) with a lower priority: real attackers would take no CPU time on
// the server's machine. neighbour.go is the well-behaved client, siege.go has the connections of an attacker, watch.go
// observes the process from outside and kills it before it exhausts the machine's memory, and tables.go defines the
// tables and their rows.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

func main() {
	if beAttackers() {
		return
	}
	s := settings{size: full}
	run := flag.String("run", "", "the `names` of the attacks to run, with commas; empty: all")
	quick := flag.Bool("quick", false, "fill the tables with a tenth of the rows")
	flag.BoolVar(&s.memory, "memory", false, "have the server keep its data in memory; attacks that want a disk are left out")
	limit := flag.String("limit", "", "the server's --memory-limit, like 512MiB; empty: none")
	walls := flag.String("cage", "", "have the system kill the server when all its memory, pages of files too, is above this, like 512MiB;"+
		" wants root and Linux")
	safety := flag.String("safety", "3GiB", "kill the server when it has `so much` memory that is not of files")
	flag.DurationVar(&s.time, "time", 10*time.Minute, "begin no attack that could end later than this")
	flag.StringVar(&s.binary, "binary", "", "attack this binary instead of building one")
	flag.Parse()
	if *quick {
		s.size = quickly
	}
	err := s.parse(*run, *limit, *safety)
	if err == nil && *walls != "" {
		s.walls, err = parseBytes(*walls)
	}
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = attackAll(ctx, s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

// settings are the values of the flags.
type settings struct {
	attacks []attack
	size    sizes
	memory  bool
	limit   int64 // --memory-limit; 0: none
	safety  int64
	walls   int64 // the memory limit of the server's cage; 0: no cage
	time    time.Duration
	binary  string
}

func (s *settings) parse(run, limit, safety string) (err error) {
	if s.attacks, err = choose(run); err != nil {
		return err
	}
	if s.memory {
		s.attacks = withoutDisk(s.attacks)
	}
	if s.safety, err = parseBytes(safety); err != nil || limit == "" {
		return err
	}
	s.limit, err = parseBytes(limit)
	return err
}

// withoutDisk leaves out the attacks that need a disk.
func withoutDisk(all []attack) []attack {
	return slices.DeleteFunc(slices.Clone(all), func(a attack) bool { return a.prepare != nil })
}

// choose finds attacks by their names.
func choose(names string) ([]attack, error) {
	if names == "" {
		return attacks, nil
	}
	var chosen []attack
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(attacks, func(a attack) bool { return a.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no attack %q", name)
		}
		chosen = append(chosen, attacks[i])
	}
	return chosen, nil
}

// parseBytes understands 512MiB and 3GiB.
func parseBytes(text string) (int64, error) {
	for _, unit := range []struct {
		name  string
		shift int
	}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}} {
		if number, ok := strings.CutSuffix(text, unit.name); ok {
			n, err := strconv.ParseInt(number, 10, 32)
			return n << unit.shift, err
		}
	}
	return 0, fmt.Errorf("%q is not a size like 512MiB", text)
}

// attackAll runs the attacks, prints the table of their figures, and fails if a bound is broken.
func attackAll(ctx context.Context, s settings) (err error) {
	folder, err := os.MkdirTemp("", "cqld-hostile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if s.binary == "" {
		s.binary = filepath.Join(folder, "cqld")
		if err := process.Build(s.binary); err != nil {
			return err
		}
	}
	t := newTrial(s, folder)
	if s.walls > 0 {
		if t.cage, err = newCage(s.walls); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, t.cage.remove()) }()
	}
	results, err := t.run(ctx)
	fmt.Println()
	printTable(os.Stdout, results)
	if err != nil {
		return err
	}
	if t.cage != nil {
		if n, err := t.cage.killed(); err != nil || n > 0 {
			return errors.Join(err, fmt.Errorf("the system has killed the server %d times for its memory", n))
		}
	}
	broken := 0
	for _, r := range results {
		broken += len(r.broken)
	}
	if broken > 0 {
		return fmt.Errorf("%d bounds are broken", broken)
	}
	return nil
}

// errEnded is for a server that ended by itself.
var errEnded = errors.New("the server has ended")
