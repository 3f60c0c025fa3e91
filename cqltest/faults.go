package cqltest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/internal/suggest"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
)

// Fault is a rule: it selects requests, and delays them or changes their fate. A field that is not set matches all
// requests, with two exceptions: requests are prepared without faults unless Opcode is PREPARE, and faults do not
// apply to keyspaces that come with the server, which drivers read, unless Keyspace names one of them.
//
//	srv.Faults().Add(t, cqltest.Fault{Kind: "insert", Table: "orders", Times: 2, Act: cqltest.Overloaded()})
//
// A BATCH matches if one of its statements does.
type Fault struct {
	Opcode      string         // QUERY, PREPARE, EXECUTE or BATCH
	Kind        string         // select, insert, update, delete, truncate, use, describe or definition; write: any of three
	Text        string         // is contained in the statement
	Pattern     *regexp.Regexp // matches the statement
	Keyspace    string
	Table       string
	Conditional bool                // only statements with IF
	Consistency []Consistency       // one of these levels
	Client      string              // an address, with its port or without
	Node        int                 // the number of the node that coordinates the request
	Application string              // the client's APPLICATION_NAME or DRIVER_NAME in STARTUP
	Match       func(*Request) bool // anything else; it must not keep the request

	Call        int     // only the n-th of the requests that match all that is above, counted from 1
	Probability float64 // how likely it is that the rule acts; 0: it always does
	Seed        uint64  // of Probability: the same requests meet the same fate
	Times       int     // how often the rule acts; 0: always

	Delay time.Duration // the request waits that long before it is served, or before the rest is done
	Act   Act           // the zero value does nothing more
}

// Faults are the rules of a server, in the order in which they were added. They are tried in this order, up to the
// first one that matches the request and does more than delay it.
type Faults struct{ faults *control.Faults }

// Faults returns the server's rules. They do not apply to Exec, Query and LoadDir. While there are none, they cost
// nothing.
func (s *Server) Faults() *Faults { return &Faults{&s.controls.Faults} }

// Add puts a rule in force, for requests that arrive from then on. It fails the test if the rule can never act,
// because a field has a value that no request has, or because it has neither an Act nor a Delay.
func (f *Faults) Add(t testing.TB, fault Fault) *Rule {
	t.Helper()
	if err := fault.check(); err != nil {
		t.Fatalf("cqltest: this fault would never act: %v", err)
	}
	return f.faults.Add(fault.rule())
}

// List returns the rules that are in force. A rule that has acted Times times is among them.
func (f *Faults) List() []*Rule { return f.faults.List() }

// Clear removes all rules.
func (f *Faults) Clear() { f.faults.Clear() }

// Rule is a Fault that is in force. It counts the requests that match, and how often it has acted; Remove ends it.
type Rule = control.Rule

// rule is the fault as the server has it.
func (f Fault) rule() control.Fault {
	c := control.Fault{
		Opcode: f.Opcode, Kind: f.Kind, Text: f.Text, Pattern: f.Pattern, Keyspace: f.Keyspace, Table: f.Table,
		Conditional: f.Conditional, Client: f.Client, Node: f.Node, Application: f.Application,
		Consistency: f.Consistency, Call: f.Call, Probability: f.Probability, Seed: f.Seed, Times: f.Times,
		Delay: f.Delay, Act: f.Act,
	}
	if f.Match != nil {
		c.Match = func(r *server.Inspected) bool { return f.Match(requestOf(r)) }
	}
	return c
}

// check returns why the fault would never act.
func (f Fault) check() error {
	if err := oneOf("Kind", f.Kind, control.FaultKinds); err != nil {
		return err
	}
	if err := oneOf("Opcode", f.Opcode, control.FaultOpcodes); err != nil {
		return err
	}
	for _, level := range f.Consistency {
		if !level.Known() {
			return fmt.Errorf("its Consistency has %d, which is no level", uint16(level))
		}
	}
	switch {
	case f.Probability < 0 || f.Probability > 1:
		return fmt.Errorf("its Probability is %v, want a number from 0 to 1", f.Probability)
	case f.Call < 0 || f.Times < 0 || f.Node < 0:
		return fmt.Errorf("its Call is %d, Times %d, Node %d: none may be negative", f.Call, f.Times, f.Node)
	case f.Delay < 0:
		return fmt.Errorf("its Delay is %v, which is negative", f.Delay)
	case f.Act == (Act{}) && f.Delay == 0:
		return errors.New("it has neither an Act nor a Delay")
	}
	if name, is := f.Act.WriteType(); is && !slices.Contains(control.WriteTypes, name) {
		return fmt.Errorf("the write type %q does not exist%s", name, suggestion(name, control.WriteTypes))
	}
	return nil
}

// oneOf refuses a field that has none of some values.
func oneOf(field, value string, of []string) error {
	if value == "" || slices.Contains(of, value) {
		return nil
	}
	return fmt.Errorf("its %s is %q%s", field, value, suggestion(value, of))
}

// suggestion is the value that a wrong one was probably meant to be, or all of them.
func suggestion(wrong string, of []string) string {
	if best := suggest.Nearest(wrong, of); best != "" {
		return fmt.Sprintf(": did you mean %q?", best)
	}
	return ": want one of " + strings.Join(of, ", ")
}
