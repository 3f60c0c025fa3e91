// Package define plans statements that change or describe the schema or concern permissions: CREATE, ALTER and DROP of
// keyspaces, tables, user types, functions, aggregates, indexes, views, triggers and roles; GRANT, REVOKE and LIST;
// TRUNCATE; and DESCRIBE.
//
// A statement goes through two phases:
//
//	Make              the checks of PREPARE, which do not depend on the schema
//	Definition.Apply  the checks that depend on the schema when the statement runs, and the changed catalog
//
// make.go has the entry, the interfaces Plan and Definition, and the parts that definitions share; read it first.
// Other files are named after the objects that their statements define, and alter_*.go change existing ones. Shared
// by them:
//
//	checks.go         refused changes of the server's own tables, missing objects, sizes of types
//	guards.go         guardrails
//	callable.go       arguments and overloads of functions and aggregates
//	view_columns.go   the columns of a view and its WHERE clause, which package where checks
//	needs.go          the permissions that definitions require
//	authorization.go, role.go    statements about roles and permissions; package auth/roles runs them
//
// Package planner plans the statements that read or write rows. Package schema parses and checks options. Package exec
// applies a Definition to the stored catalog, and empties the table of a Truncate.
package define

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/planner/scope"
)

// Plan is a Definition, a Describe, a Truncate or an Authorization.
type Plan interface {
	plan()
	String() string // the plan in words; golden files compare it
}

func (*Describe) plan()      {}
func (*Authorization) plan() {}

// Env is the context in which a statement is planned, besides its scope.
type Env struct {
	Text string // of the statement, for error texts that quote it
	Run  bool   // it is not prepared but run: Cassandra then checks permissions before other errors

	// Logins is true if clients log in. Otherwise no client may see or change roles.
	Logins bool

	Masks bool // columns may be masked

	// Datacenter is the name that replication strategies use; "" is datacenter1.
	Datacenter string

	// Nodes has the number of nodes in each datacenter; nil: one node.
	Nodes map[string]int

	ReplicationFactor int // default for keyspaces; 0 is 1

	Guard *guardrail.Check // nil: no guardrails
}

// Make plans a statement, or returns the error for the client.
func Make(stmt cql.Statement, s *scope.Scope, env Env) (Plan, error) {
	p := &planning{scope: s, env: env}
	return p.statement(stmt)
}

// planning is the state of planning one statement.
type planning struct {
	scope *scope.Scope
	env   Env
}

// statement plans every kind of statement that package planner does not.
func (p *planning) statement(stmt cql.Statement) (Plan, error) {
	switch s := stmt.(type) {
	case *cql.Truncate:
		return p.truncate(s)
	case *cql.CreateKeyspace:
		return defines(p, s, p.createKeyspace)
	case *cql.AlterKeyspace:
		return defines(p, s, p.alterKeyspace)
	case *cql.DropKeyspace:
		return defines(p, s, p.dropKeyspace)
	case *cql.CreateTable:
		return defines(p, s, p.createTable)
	case *cql.AlterTable:
		return defines(p, s, p.alterTable)
	case *cql.DropTable:
		return defines(p, s, p.dropTable)
	case *cql.CreateType:
		return defines(p, s, p.createType)
	case *cql.AlterType:
		return defines(p, s, p.alterType)
	case *cql.DropType:
		return defines(p, s, p.dropType)
	case *cql.CreateView:
		return defines(p, s, p.createView)
	case *cql.AlterView:
		return defines(p, s, p.alterView)
	case *cql.DropView:
		return defines(p, s, p.dropView)
	case *cql.CreateFunction:
		return defines(p, s, p.createFunction)
	case *cql.DropFunction:
		return defines(p, s, p.dropFunction)
	case *cql.CreateAggregate:
		return defines(p, s, p.createAggregate)
	case *cql.DropAggregate:
		return defines(p, s, p.dropAggregate)
	case *cql.CreateTrigger:
		return defines(p, s, p.createTrigger)
	case *cql.DropTrigger:
		return defines(p, s, p.dropTrigger)
	case *cql.CreateIndex:
		return defines(p, s, p.createIndex)
	case *cql.DropIndex:
		return defines(p, s, p.dropIndex)
	case *cql.Describe:
		return p.describe(s)
	case *cql.GrantPermissions:
		return p.authorized(s, s.Permissions, &s.Resource)
	case *cql.RevokePermissions:
		return p.authorized(s, s.Permissions, &s.Resource)
	case *cql.ListPermissions:
		return p.authorized(s, s.Permissions, s.Resource)
	case *cql.CreateRole, *cql.AlterRole, *cql.DropRole, *cql.CreateUser, *cql.AlterUser, *cql.DropUser, *cql.AddIdentity,
		*cql.DropIdentity, *cql.GrantRole, *cql.RevokeRole, *cql.ListRoles, *cql.ListUsers:
		return p.authorized(s, nil, nil)
	}
	return nil, cqlerr.Serverf("no plan for a %T", stmt)
}

// defines plans a statement that changes the schema. In Cassandra none of them counts as qualified.
func defines[S cql.Statement, D Definition](p *planning, s S, plan func(S) (D, error)) (Plan, error) {
	p.scope.Qualified = false
	d, err := plan(s)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Definition is the plan of a statement that changes the schema. A prepared one may run long after it was planned, so
// Apply checks the rules that depend on the schema.
type Definition interface {
	Plan

	// Apply returns the changed catalog and the answer, or c if there was nothing to change.
	Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error)
}

// Run has the parameters of one execution of a definition.
type Run struct {
	NewID [16]byte         // for an object that gets an id
	Time  int64            // microseconds since 1970
	Guard *guardrail.Check // nil: no guardrails
	Env   *expr.Env        // of functions in INITCOND; nil: none are called
	Work  *Work            // that was done without the lock of the schema; nil: Apply does all work
}

// checkFunctionsEnabled refuses users' functions where they are disabled.
func (r *Run) checkFunctionsEnabled() error {
	if r.Env == nil {
		return nil
	}
	return r.Env.Limits.CheckEnabled()
}

// Validated is a definition to which some guardrails apply when it is prepared, and again each time it runs.
type Validated interface {
	Definition

	// Validate applies these guardrails.
	Validate(c *schema.Catalog, guard *guardrail.Check) error
}

// target is the object that a definition is about.
type target struct {
	verb           string // as in "create table"
	Keyspace, Name string
}

// target resolves the keyspace of an object.
func (p *planning) target(verb string, n cql.QualifiedName) (target, error) {
	keyspace, err := p.scope.Keyspace(n)
	return target{verb, keyspace, n.Name}, err
}

func (target) plan() {}

// String returns the plan in words.
func (t target) String() string {
	return strings.TrimSpace(t.verb + " " + strings.TrimPrefix(t.Keyspace+"."+t.Name, "."))
}

// Outcome is the result of a definition: the change reported to its client, and the events for all others.
type Outcome struct {
	Answer   schema.Change
	Events   []schema.Change
	Warnings []string
}

// reported is the outcome of a definition whose only event is its answer.
func reported(kind schema.ChangeKind, target schema.Target, keyspace, name string) Outcome {
	change := schema.Change{Kind: kind, Target: target, Keyspace: keyspace, Name: name}
	return Outcome{Answer: change, Events: []schema.Change{change}}
}

// properties converts WITH properties to texts. The parser has checked them.
func properties(props []cql.Property) []schema.Property {
	out := make([]schema.Property, len(props))
	for i, p := range props {
		out[i].Name = p.Name
		if m, ok := p.Value.(*cql.MapLiteral); ok {
			out[i].Map = propertyMap(m)
		} else {
			out[i].Text = propertyText(p.Value)
		}
	}
	return out
}

// propertyMap converts the map of a property.
func propertyMap(l *cql.MapLiteral) map[string]string {
	m := make(map[string]string, len(l.Keys.Parts))
	for i, k := range l.Keys.Parts {
		m[propertyText(k)] = propertyText(l.Values.Parts[i])
	}
	return m
}

// propertyText is the text of a constant, of strings without quotes.
func propertyText(t cql.Term) string {
	switch t := t.(type) {
	case *cql.Literal:
		return t.Text
	case *cql.ColumnRef:
		return t.Name
	}
	return t.String()
}

// String returns the plan in words.
func (d *CreateIndex) String() string {
	return strings.TrimSpace(d.target.String() + " " + d.Statement.Name)
}

// String returns the plan in words.
func (d *Describe) String() string {
	return strings.TrimSpace("describe " + describeWords[d.Kind] + " " + strings.Trim(d.Keyspace+"."+d.Name, "."))
}

// describeWords are the words after DESCRIBE; a bare name has none.
var describeWords = map[cql.DescribeKind]string{
	cql.DescribeKeyspaces: "keyspaces", cql.DescribeTables: "tables", cql.DescribeTypes: "types",
	cql.DescribeFunctions: "functions", cql.DescribeAggregates: "aggregates", cql.DescribeSchema: "schema",
	cql.DescribeKeyspace: "keyspace", cql.DescribeTable: "table", cql.DescribeIndex: "index", cql.DescribeView: "view",
	cql.DescribeType: "type", cql.DescribeFunction: "function", cql.DescribeAggregate: "aggregate",
	cql.DescribeCluster: "cluster",
}
