package cqltest

import (
	"regexp"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/server/control"
)

// Fault is a rule: it selects requests, and delays them (Delay) or changes their fate (Act). A field that is not set
// matches all requests, with two exceptions: requests are prepared without faults unless Opcode is PREPARE, and faults
// do not apply to keyspaces that come with the server, which drivers read, unless Keyspace names one of them.
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

	Delay time.Duration // before the request is served, or before the Act
	Act   Act           // the zero value does nothing
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
	rule := fault.rule()
	if err := rule.Check(); err != nil {
		t.Fatalf("cqltest: this fault would never act: %v", err)
	}
	return &Rule{f.faults.Add(rule)}
}

// List returns the rules that are in force. A rule that has acted Times times is among them.
func (f *Faults) List() (all []*Rule) {
	for _, r := range f.faults.List() {
		all = append(all, &Rule{r})
	}
	return all
}

// Clear removes all rules.
func (f *Faults) Clear() { f.faults.Clear() }

// Rule is a Fault that is in force.
type Rule struct{ rule *control.Rule }

// Remove ends the rule.
func (r *Rule) Remove() { r.rule.Remove() }

// Matched is how many requests have matched the rule, whether it has acted or not.
func (r *Rule) Matched() int { return r.rule.Matched() }

// Acted is how often the rule has acted.
func (r *Rule) Acted() int { return r.rule.Acted() }

// String is the rule on one line.
func (r *Rule) String() string { return r.rule.String() }

// rule is the fault as the server knows it.
func (f Fault) rule() control.Fault {
	c := control.Fault{
		Opcode: f.Opcode, Kind: f.Kind, Text: f.Text, Pattern: f.Pattern, Keyspace: f.Keyspace, Table: f.Table,
		Conditional: f.Conditional, Client: f.Client, Node: f.Node, Application: f.Application,
		Call: f.Call, Probability: f.Probability, Seed: f.Seed, Times: f.Times, Delay: f.Delay, Act: f.Act.act,
	}
	for _, level := range f.Consistency {
		c.Consistency = append(c.Consistency, cqlerr.Consistency(level))
	}
	if f.Match != nil {
		c.Match = func(r *control.Request) bool { return f.Match(requestOf(r)) }
	}
	return c
}
