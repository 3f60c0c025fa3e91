package wire

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
)

// verdicts are the reasons why exchanges are not equal. A reason is a kind and a text: "differs" if that is wanted or
// cannot be compared, "not replayed" if it is not even tried. A reason that differs begins with the number of the
// difference in docs/differences.md, and ours has the answer of cqld. A name without a line number means a whole file,
// which is not replayed.
type verdicts struct {
	list    string // the file
	reasons []string
	of      map[string]string // exchange name to reason
	ours    map[string]*ours  // exchange name to the answer of cqld, where it differs
}

const unexplained = "unexplained"

// differs reports whether cqld is known to answer an exchange otherwise than Cassandra.
func (v *verdicts) differs(x *exchange) bool { return strings.HasPrefix(v.of[x.name()], "differs ") }

// readVerdicts reads a list: reasons in brackets, and under each the exchanges, a line each.
func readVerdicts(t *testing.T, list string) *verdicts {
	t.Helper()
	v := &verdicts{list: list, of: map[string]string{}, ours: readOurs(t)}
	content, err := os.ReadFile(list)
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
	if list != verdictsFile { // files left out are left out everywhere
		for name, reason := range readVerdicts(t, verdictsFile).of {
			if strings.HasPrefix(reason, notReplayed) {
				v.of[name] = reason
			}
		}
	}
	return v
}

const notReplayed = "not replayed"

// skips reports whether an exchange is not replayed.
func (v *verdicts) skips(x *exchange) bool { return strings.HasPrefix(v.of[x.name()], notReplayed) }

// skipsFile reports whether none of a file's exchanges is replayed.
func (v *verdicts) skipsFile(file string) bool {
	_, listed := v.of[file]
	return listed
}

// outcome is the result of replaying one exchange; no difference if it was equal.
type outcome struct {
	exchange   *exchange
	difference string
	skipped    bool  // it was not replayed
	ours       *ours // the answer, where it is known to differ
}

// check compares outcomes with the verdicts and prints the summary.
func (v *verdicts) check(t *testing.T, outcomes []outcome) {
	t.Helper()
	counts := map[string]int{}
	for _, o := range outcomes {
		reason, listed := v.of[o.exchange.name()]
		kind, _, _ := strings.Cut(reason, " ")
		switch {
		case o.skipped:
			counts[notReplayed]++
		case kind == "varies":
			counts[kind]++
		case o.difference == "" && listed:
			t.Errorf("%s %q is equal: the difference is gone, take it from %s", o.exchange.name(), o.exchange.title, v.list)
		case o.ours != nil && (v.ours[o.exchange.name()] == nil || !o.ours.same(v.ours[o.exchange.name()])):
			t.Errorf("%s %q is neither Cassandra's answer nor ours:\n%s\nwant\n%s",
				o.exchange.name(), o.exchange.title, o.difference, v.ours[o.exchange.name()])
		case o.difference != "" && !listed:
			t.Errorf("%s %q is not equal:\n%s", o.exchange.name(), o.exchange.title, o.difference)
		case listed && kind != "differs":
			t.Errorf("%s %q is not explained:\n%s", o.exchange.name(), o.exchange.title, o.difference)
		case listed:
			t.Logf("%s %q, %s:\n%s", o.exchange.name(), o.exchange.title, reason, o.difference)
			counts[kind]++
		default:
			counts["equal"]++
		}
	}
	fmt.Printf("wire: %d exchanges: %d equal, %d differ, %d vary, %d not replayed\n",
		len(outcomes), counts["equal"], counts["differs"], counts["varies"], counts[notReplayed])
}

// update writes verdicts.txt for these outcomes; reasons stay where they were.
func (v *verdicts) update(t *testing.T, outcomes []outcome) {
	t.Helper()
	lines := map[string][]string{}
	files := map[string]bool{}
	for _, o := range outcomes {
		reason, listed := v.of[o.exchange.name()]
		if o.difference == "" && !o.skipped && !strings.HasPrefix(reason, "varies") {
			continue
		}
		line := o.exchange.name() + " " + o.exchange.title
		if whole, ok := v.of[o.exchange.file]; ok {
			if files[o.exchange.file] {
				continue
			}
			files[o.exchange.file] = true
			reason, listed, line = whole, true, o.exchange.file
		}
		if !o.skipped && !listed {
			reason = unexplained
		}
		lines[reason] = append(lines[reason], line)
	}
	var out strings.Builder
	out.WriteString("# Exchanges that are not equal to Cassandra's, under the reason: see README.md and docs/differences.md.\n")
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
	if err := os.WriteFile(v.list, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
