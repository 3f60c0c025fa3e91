package wire

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
)

// verdicts say of the exchanges that are not equal why: a reason is "pending" or "differs" and a text. A name
// without a line number stands for a whole file, which is not replayed.
type verdicts struct {
	reasons []string
	of      map[string]string // exchange name to reason
}

const (
	verdictsFile = "verdicts.txt"
	unexplained  = "unexplained"
)

// readVerdicts reads verdicts.txt: reasons in brackets, and under each the exchanges, a line each.
func readVerdicts(t *testing.T) *verdicts {
	t.Helper()
	v := &verdicts{of: map[string]string{}}
	content, err := os.ReadFile(verdictsFile)
	if err != nil {
		t.Fatal(err)
	}
	reason := ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			reason = strings.Trim(line, "[]")
			v.reasons = append(v.reasons, reason)
		default:
			name, _, _ := strings.Cut(line, " ")
			v.of[name] = reason
		}
	}
	return v
}

// outcome is what the replay of one exchange showed; empty if it was equal.
type outcome struct {
	exchange   *exchange
	difference string
}

// check compares outcomes with the verdicts and prints the summary.
func (v *verdicts) check(t *testing.T, outcomes []outcome) {
	t.Helper()
	counts := map[string]int{}
	for _, o := range outcomes {
		reason, listed := v.of[o.exchange.name()]
		if !listed {
			reason, listed = v.of[o.exchange.file]
		}
		kind, _, _ := strings.Cut(reason, " ")
		switch {
		case o.difference == "" && listed:
			t.Errorf("%s %q is equal: take it from %s", o.exchange.name(), o.exchange.title, verdictsFile)
		case o.difference != "" && !listed:
			t.Errorf("%s %q is not equal:\n%s", o.exchange.name(), o.exchange.title, o.difference)
		case listed && kind != "pending" && kind != "differs":
			t.Errorf("%s %q is not explained:\n%s", o.exchange.name(), o.exchange.title, o.difference)
		case listed:
			t.Logf("%s %q, %s:\n%s", o.exchange.name(), o.exchange.title, reason, o.difference)
			counts[kind]++
		default:
			counts["equal"]++
		}
	}
	fmt.Printf("wire: %d exchanges: %d equal, %d pending, %d differ\n",
		len(outcomes), counts["equal"], counts["pending"], counts["differs"])
}

// update writes verdicts.txt for these outcomes; reasons stay where they were.
func (v *verdicts) update(t *testing.T, outcomes []outcome) {
	t.Helper()
	lines := map[string][]string{}
	files := map[string]bool{}
	for _, o := range outcomes {
		if o.difference == "" {
			continue
		}
		reason, listed := v.of[o.exchange.name()]
		line := o.exchange.name() + " " + o.exchange.title
		if whole, ok := v.of[o.exchange.file]; ok {
			if files[o.exchange.file] {
				continue
			}
			files[o.exchange.file] = true
			reason, listed, line = whole, true, o.exchange.file
		}
		if !listed {
			reason = unexplained
		}
		lines[reason] = append(lines[reason], line)
	}
	var out strings.Builder
	out.WriteString("# Exchanges that are not equal to Cassandra's, under the reason: see README.md.\n")
	known := map[string]bool{}
	for _, r := range v.reasons {
		known[r] = true
	}
	if !known[unexplained] {
		v.reasons = append(v.reasons, unexplained)
	}
	for _, reason := range v.reasons {
		if len(lines[reason]) == 0 {
			continue
		}
		sort.Strings(lines[reason])
		fmt.Fprintf(&out, "\n[%s]\n%s\n", reason, strings.Join(lines[reason], "\n"))
	}
	if err := os.WriteFile(verdictsFile, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
