package main

import (
	"maps"
	"slices"
)

// difference is a test that one of the two servers, or neither, passes.
type difference struct {
	test    string
	message string // how it failed, on cqld if there
	cause   string // from the causes; empty if none is known
}

// comparison is a suite on both servers.
type comparison struct {
	suite                   suite
	ran, passed, passedReal int

	here  []difference // Cassandra passes them, cqld does not
	both  []difference // neither does
	there []difference // cqld passes them, Cassandra does not
}

// compare compares the outcomes on cqld and on Cassandra. A test counts as run if one server did not skip it. A test
// without an outcome on one server counts as failed there: the suite did not get that far.
func compare(s suite, here, there []outcome) comparison {
	c := comparison{suite: s}
	ours, theirs := byTest(here), byTest(there)
	names := maps.Clone(ours)
	maps.Copy(names, theirs)
	for _, test := range slices.Sorted(maps.Keys(names)) {
		o, t := outcomeOf(ours, test), outcomeOf(theirs, test)
		if o.result == skipped && t.result == skipped {
			continue
		}
		c.ran++
		d := difference{test: test, message: o.message}
		if o.result == skipped {
			d.message = "skipped: " + o.message
		}
		switch {
		case o.result == passed && t.result == passed:
			c.passed++
			c.passedReal++
		case o.result == passed:
			c.passed++
			c.there = append(c.there, difference{test: test, message: t.message})
		case t.result == passed:
			c.passedReal++
			c.here = append(c.here, d)
		default:
			d.message += " (on Cassandra: " + t.message + ")"
			c.both = append(c.both, d)
		}
	}
	return c
}

// byTest finds outcomes by name. A test that ran several times passed if it always did.
func byTest(outcomes []outcome) map[string]outcome {
	m := map[string]outcome{}
	for _, o := range outcomes {
		if earlier, ok := m[o.test]; !ok || earlier.result != failed {
			m[o.test] = o
		}
	}
	return m
}

func outcomeOf(m map[string]outcome, test string) outcome {
	if o, ok := m[test]; ok {
		return o
	}
	return outcome{test, failed, unfinished}
}
