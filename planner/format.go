package planner

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// lines gathers the parts of a plan, one to a line.
type lines []string

func (l *lines) add(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

func (l *lines) addAll(more []string) { *l = append(*l, more...) }

func (l lines) String() string { return strings.Join(l, "\n  ") }

func (s *Select) String() string {
	var l lines
	l.add("select %s from %s", s.Selection, tableName(s.Table))
	l.addAll(s.Where.Lines())
	l.flag(s.Distinct, "distinct")
	l.flag(s.Reverse, "from last to first")
	for _, o := range s.Sorts {
		l.add("merge partitions by %s %s", o.Column.Name, direction(o.Desc))
	}
	if s.Nearest != nil {
		l.add("order by nearness of %s to %s as index %s says", s.Nearest.Column.Name, s.Nearest.Value, s.Nearest.Index.Name)
	}
	l.flag(s.Indexed, "with indexes")
	l.value("per partition limit", s.PerPartitionLimit)
	l.value("limit", s.Limit)
	l.flag(s.OneRow, "one row")
	l.flag(s.FullPartitions, "partitions without rows show their static columns")
	return l.String()
}

// String is the selection as its columns and where their values come from.
func (s *Selection) String() string {
	var parts []string
	for _, c := range s.Plain {
		parts = append(parts, c.Name)
	}
	for _, e := range s.Exprs {
		parts = append(parts, e.String())
	}
	return strings.Join(parts, ", ")
}

func (m *Modification) String() string {
	var l lines
	l.add("%s %s", strings.ToLower(string(m.Verb)), tableName(m.Table))
	l.addAll(m.Where.Lines())
	for _, s := range append(m.Statics[:len(m.Statics):len(m.Statics)], m.Sets...) {
		l.add("%s", s.String())
	}
	l.flag(m.Mark, "mark the row")
	l.flag(m.Removes, "remove what is selected")
	l.value("timestamp", m.Timestamp)
	l.value("ttl", m.TTL)
	return l.String()
}

func (s *SetColumn) String() string {
	what, name := "set", s.Column.Name
	switch s.Change {
	case Add, Prepend, Remove:
		what = [...]string{Add: "add to", Prepend: "put in front of", Remove: "remove from"}[s.Change]
	case SetPart:
		name += "[" + s.Part.String() + "]"
	case SetField:
		name += "." + s.Column.Type.(*types.UserType).Fields[s.Field].Name
	}
	return fmt.Sprintf("%s %s %s = %s", what, s.Column.Kind, name, s.Value)
}

func (b *Batch) String() string {
	var l lines
	l.add("%s batch", [...]string{"logged", "unlogged", "counter"}[b.Kind])
	l.value("timestamp", b.Timestamp)
	for _, m := range b.Statements {
		l.add("%s", strings.ReplaceAll(m.String(), "\n", "\n  "))
	}
	return l.String()
}

func (t *Truncate) String() string { return "truncate " + tableName(t.Table) }

func (u *Use) String() string { return "use " + u.Keyspace }

func (d *CreateKeyspace) String() string { return "create keyspace " + d.Name }

func (d *AlterKeyspace) String() string { return "alter keyspace " + d.Name }

func (d *DropKeyspace) String() string { return "drop keyspace " + d.Name }

func (d *CreateTable) String() string {
	return "create table " + d.Keyspace + "." + d.Statement.Table.Name
}

func (d *AlterTable) String() string {
	return "alter table " + d.Keyspace + "." + d.Statement.Table.Name
}

func (d *DropTable) String() string { return "drop table " + d.Keyspace + "." + d.Name }

func (d *CreateType) String() string {
	return "create type " + d.Keyspace + "." + d.Statement.Type.Name
}

func (d *AlterType) String() string {
	return "alter type " + d.Keyspace + "." + d.Statement.Type.Name
}

func (d *DropType) String() string { return "drop type " + d.Keyspace + "." + d.Name }

func (d *CreateFunction) String() string {
	return "create function " + d.Keyspace + "." + d.Statement.Function.Name
}

func (d *DropFunction) String() string {
	return "drop function " + d.Keyspace + "." + d.Statement.Function.Name
}

func (d *CreateAggregate) String() string {
	return "create aggregate " + d.Keyspace + "." + d.Statement.Function.Name
}

func (d *DropAggregate) String() string {
	return "drop aggregate " + d.Keyspace + "." + d.Statement.Function.Name
}

func (d *CreateTrigger) String() string {
	return "create trigger " + d.Statement.Name + " on " + d.Keyspace + "." + d.Statement.Table.Name
}

func (d *DropTrigger) String() string {
	return "drop trigger " + d.Statement.Name + " on " + d.Keyspace + "." + d.Statement.Table.Name
}

func (d *CreateIndex) String() string {
	return strings.TrimSpace("create index on " + d.Keyspace + "." + d.Statement.Table.Name + " " + d.Statement.Name)
}

func (d *DropIndex) String() string { return "drop index " + d.Keyspace + "." + d.Name }
func (d *CreateView) String() string {
	return "create materialized view " + d.Keyspace + "." + d.Statement.View.Name
}

func (d *AlterView) String() string { return "alter materialized view " + d.Keyspace + "." + d.Name }
func (d *DropView) String() string  { return "drop materialized view " + d.Keyspace + "." + d.Name }

func (d *Describe) String() string {
	return strings.TrimSpace("describe " + describeWords[d.Kind] + " " + strings.Trim(d.Keyspace+"."+d.Name, "."))
}

// describeWords are the forms of DESCRIBE; the one that takes any name has no word.
var describeWords = map[cql.DescribeKind]string{
	cql.DescribeKeyspaces: "keyspaces", cql.DescribeTables: "tables", cql.DescribeTypes: "types",
	cql.DescribeFunctions: "functions", cql.DescribeAggregates: "aggregates", cql.DescribeSchema: "schema",
	cql.DescribeKeyspace: "keyspace", cql.DescribeTable: "table", cql.DescribeIndex: "index", cql.DescribeView: "view",
	cql.DescribeType: "type", cql.DescribeFunction: "function", cql.DescribeAggregate: "aggregate", cql.DescribeCluster: "cluster",
}

func (l *lines) flag(set bool, text string) {
	if set {
		l.add("%s", text)
	}
}

func (l *lines) value(name string, e expr.Expr) {
	if e != nil {
		l.add("%s %s", name, e)
	}
}

func tableName(t *schema.Table) string { return t.Keyspace + "." + t.Name }

func direction(desc bool) string {
	if desc {
		return "descending"
	}
	return "ascending"
}
