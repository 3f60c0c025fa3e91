package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/compat_tests/process"
)

// crowds are the numbers of gocql's workers that the report has.
var crowds = []int{1, 64, 256}

// reportDriver writes the throughput of gocql on cqld and on a null server. An application sees these numbers: the
// driver takes more of the processors than the server.
func (m *measurement) reportDriver(_ context.Context, page *strings.Builder) error {
	me, err := self()
	if err != nil {
		return err
	}
	var sessions []*gocql.Session
	for _, command := range [][]string{
		{me, "-null"},
		{m.binary, "serve", "--listen", "127.0.0.1:0", "--memory"},
		{m.binary, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(m.folder, "driver")},
	} {
		p, err := process.Start(command[0], command[1:]...)
		if err != nil {
			return err
		}
		defer p.Stop()
		s, err := open(p.Addr)
		if err != nil {
			return err
		}
		defer s.Close()
		if err := prepareTable(s); err != nil {
			return err
		}
		sessions = append(sessions, s)
	}
	page.WriteString("The same through gocql, by the number of goroutines that each wait for an answer before they ask again. " +
		"The driver shares the processors.\n\n" +
		"| | goroutines | null server/s | in memory/s | ratio | on disk/s | ratio |\n|---|---|---|---|---|---|---|\n")
	for _, w := range m.works() {
		for _, n := range crowds {
			line, err := m.driverLine(w, n, sessions)
			if err != nil {
				return err
			}
			page.WriteString(line)
			fmt.Print(line)
		}
	}
	page.WriteString("\n")
	return nil
}

// driverLine measures one kind of request of a crowd, on the null server and on others in turn.
func (m *measurement) driverLine(w work, crowd int, sessions []*gocql.Session) (string, error) {
	rates := make([][]float64, len(sessions))
	for range m.rounds {
		for i, s := range sessions {
			n, err := hammer(s, w, crowd, m.round)
			if err != nil {
				return "", fmt.Errorf("%s: %w", w.name, err)
			}
			rates[i] = append(rates[i], float64(n)/m.round.Seconds())
		}
	}
	line := fmt.Sprintf("| %s | %d | %.0f |", w.name, crowd, median(rates[0]))
	for _, of := range rates[1:] {
		line += fmt.Sprintf(" %.0f | %s |", median(of), ratios(of, rates[0]))
	}
	return line + "\n", nil
}
