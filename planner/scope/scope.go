package scope

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Scope resolves the names in one statement.
type Scope struct {
	Catalog *schema.Catalog
	InUse   string // the keyspace of unqualified names: the session's or the request's; "" if none

	Uses
}

// New begins the work on a statement.
func New(c *schema.Catalog, inUse string) *Scope {
	return &Scope{Catalog: c, InUse: inUse, Uses: Uses{Qualified: true}}
}

// Keyspace is the keyspace of a name: its own, else the one in use.
func (s *Scope) Keyspace(name cql.QualifiedName) (string, error) {
	if name.Keyspace != "" {
		return name.Keyspace, nil
	}
	s.Qualified = false
	if s.InUse == "" {
		return "", cqlerr.Invalidf("No keyspace has been specified. USE a keyspace, or explicitly specify " +
			"keyspace.tablename")
	}
	return s.InUse, nil
}

// Table resolves the table of a statement that reads or writes rows.
func (s *Scope) Table(name cql.QualifiedName) (*schema.Table, error) {
	keyspace, err := s.Keyspace(name)
	if err != nil {
		return nil, err
	}
	if s.Catalog.Keyspace(keyspace) == nil {
		return nil, cqlerr.Invalidf("keyspace %s does not exist", keyspace)
	}
	t := s.Catalog.Table(keyspace, name.Name)
	if t == nil {
		return nil, cqlerr.Invalidf("table %s does not exist", name.Name)
	}
	s.useTable(t)
	return t, nil
}

// Column resolves a column of a table.
func Column(t *schema.Table, c cql.ColumnRef) (*schema.Column, error) {
	if found := t.Visible(c.Name); found != nil {
		return found, nil
	}
	return nil, UndefinedColumn(t, c.Name)
}

// UndefinedColumn refuses a column that a table does not have, or does not show.
func UndefinedColumn(t *schema.Table, name string) error {
	return cqlerr.Invalidf("Undefined column name %s in table %s", quote.Name(name), QuotedTable(t))
}

// QuotedTable is a table's name with that of its keyspace, as it is written in statements.
func QuotedTable(t *schema.Table) string { return quote.Name(t.Keyspace) + "." + quote.Name(t.Name) }

// Uses are the objects that a statement uses.
type Uses struct {
	Qualified bool // no unqualified name was used: the plan does not depend on the keyspace in use
	Tables    []*schema.Table
	Types     []*types.UserType // which the statement names
	Calls     []Callables       // users' functions that the called ones were chosen from
}

// Callables are the users' functions and aggregates of a keyspace.
type Callables struct {
	Keyspace   string
	Functions  []*schema.Function
	Aggregates []*schema.Aggregate
}

// MeansTheSame reports whether the types that the statement names are as they were, and calls mean the same functions.
// Cassandra's prepared statements keep theirs, so only plans of texts are asked.
func (u *Uses) MeansTheSame(current *schema.Catalog) bool {
	for _, old := range u.Types {
		if current.Type(old.Keyspace, old.Name) != old {
			return false
		}
	}
	return !slices.ContainsFunc(u.Calls, func(c Callables) bool { return !c.hold(current) })
}

// hold reports whether the keyspace still has just these.
func (c *Callables) hold(current *schema.Catalog) bool {
	k := current.Keyspace(c.Keyspace)
	return k != nil && slices.Equal(k.Functions, c.Functions) && slices.Equal(k.Aggregates, c.Aggregates)
}

// useTable notes a table.
func (u *Uses) useTable(t *schema.Table) {
	if !slices.Contains(u.Tables, t) {
		u.Tables = append(u.Tables, t)
	}
}

// useTypes notes the user types inside t.
func (u *Uses) useTypes(k *schema.Keyspace, t types.Type) {
	for _, name := range types.UserTypeNames(nil, t) {
		if found := k.Types[name]; found != nil && !slices.Contains(u.Types, found) {
			u.Types = append(u.Types, found)
		}
	}
}

// useFunctions notes that functions of a keyspace were looked for.
func (u *Uses) useFunctions(k *schema.Keyspace) {
	if !slices.ContainsFunc(u.Calls, func(c Callables) bool { return c.Keyspace == k.Name }) {
		u.Calls = append(u.Calls, Callables{Keyspace: k.Name, Functions: k.Functions, Aggregates: k.Aggregates})
	}
}

// TypeOf finds the type of a type hint or CAST in a term.
func (s *Scope) TypeOf(keyspace string, n cql.TypeName) (types.Type, error) {
	k := s.Catalog.Keyspace(keyspace)
	t, err := Type(k, n)
	if err == nil {
		s.useTypes(k, t)
	}
	return t, err
}

// FunctionsOf finds the users' functions and aggregates that a call may mean.
func (s *Scope) FunctionsOf(keyspace string, name cql.QualifiedName) []*functions.Function {
	if name.Keyspace != "" {
		keyspace = name.Keyspace
	}
	k := s.Catalog.Keyspace(keyspace)
	if k == nil {
		return nil
	}
	s.useFunctions(k)
	return Functions(k, name.Name)
}

// Functions are the functions and aggregates of a name, as overload choice sees them.
func Functions(k *schema.Keyspace, name string) (all []*functions.Function) {
	quoted := quote.Name(k.Name) + "." + quote.Name(name)
	for _, r := range k.RoutinesNamed(name) {
		args := make([]types.Type, len(r.Base().Args))
		for i, t := range r.Base().Args {
			args[i] = functions.AsReturned(t)
		}
		f := &functions.Function{
			Name: name, Args: args, Returns: functions.AsReturned(r.Base().Returns), Costly: true, Volatile: true,
			User: &functions.User{Keyspace: k.Name, Quoted: quoted},
		}
		switch r := r.(type) {
		case *schema.Function:
			f.Call = newRoutine(k, r).call
		case *schema.Aggregate:
			f.User.Aggregate = true
			f.User.Start = func(env *functions.Env) functions.Aggregate { return startAggregate(k, r, env) }
		}
		all = append(all, f)
	}
	return all
}
