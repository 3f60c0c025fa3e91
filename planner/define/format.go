package define

import (
	"strings"

	"github.com/cqld/cqld/cql"
)

// String returns the plan in words.
func (t *Truncate) String() string { return "truncate " + t.Keyspace + "." + t.Name }

// String returns the plan in words.
func (d *CreateKeyspace) String() string { return "create keyspace " + d.Name }

// String returns the plan in words.
func (d *AlterKeyspace) String() string { return "alter keyspace " + d.Name }

// String returns the plan in words.
func (d *DropKeyspace) String() string { return "drop keyspace " + d.Name }

// String returns the plan in words.
func (d *CreateTable) String() string {
	return "create table " + d.Keyspace + "." + d.Statement.Table.Name
}

// String returns the plan in words.
func (d *AlterTable) String() string {
	return "alter table " + d.Keyspace + "." + d.Statement.Table.Name
}

// String returns the plan in words.
func (d *DropTable) String() string { return "drop table " + d.Keyspace + "." + d.Name }

// String returns the plan in words.
func (d *CreateType) String() string {
	return "create type " + d.Keyspace + "." + d.Statement.Type.Name
}

// String returns the plan in words.
func (d *AlterType) String() string {
	return "alter type " + d.Keyspace + "." + d.Statement.Type.Name
}

// String returns the plan in words.
func (d *DropType) String() string { return "drop type " + d.Keyspace + "." + d.Name }

// String returns the plan in words.
func (d *CreateFunction) String() string {
	return "create function " + d.Keyspace + "." + d.Statement.Function.Name
}

// String returns the plan in words.
func (d *DropFunction) String() string {
	return "drop function " + d.Keyspace + "." + d.Statement.Function.Name
}

// String returns the plan in words.
func (d *CreateAggregate) String() string {
	return "create aggregate " + d.Keyspace + "." + d.Statement.Function.Name
}

// String returns the plan in words.
func (d *DropAggregate) String() string {
	return "drop aggregate " + d.Keyspace + "." + d.Statement.Function.Name
}

// String returns the plan in words.
func (d *CreateTrigger) String() string {
	return "create trigger " + d.Statement.Name + " on " + d.Keyspace + "." + d.Statement.Table.Name
}

// String returns the plan in words.
func (d *DropTrigger) String() string {
	return "drop trigger " + d.Statement.Name + " on " + d.Keyspace + "." + d.Statement.Table.Name
}

// String returns the plan in words.
func (d *CreateIndex) String() string {
	return strings.TrimSpace("create index on " + d.Keyspace + "." + d.Statement.Table.Name + " " + d.Statement.Name)
}

// String returns the plan in words.
func (d *DropIndex) String() string { return "drop index " + d.Keyspace + "." + d.Name }

// String returns the plan in words.
func (d *CreateView) String() string {
	return "create materialized view " + d.Keyspace + "." + d.Statement.View.Name
}

// String returns the plan in words.
func (d *AlterView) String() string { return "alter materialized view " + d.Keyspace + "." + d.Name }

// String returns the plan in words.
func (d *DropView) String() string { return "drop materialized view " + d.Keyspace + "." + d.Name }

// String returns the plan in words.
func (d *Describe) String() string {
	return strings.TrimSpace("describe " + describeWords[d.Kind] + " " + strings.Trim(d.Keyspace+"."+d.Name, "."))
}

// describeWords are the forms of DESCRIBE; the one that takes any name has no word.
var describeWords = map[cql.DescribeKind]string{
	cql.DescribeKeyspaces: "keyspaces", cql.DescribeTables: "tables", cql.DescribeTypes: "types",
	cql.DescribeFunctions: "functions", cql.DescribeAggregates: "aggregates", cql.DescribeSchema: "schema",
	cql.DescribeKeyspace: "keyspace", cql.DescribeTable: "table", cql.DescribeIndex: "index", cql.DescribeView: "view",
	cql.DescribeType: "type", cql.DescribeFunction: "function", cql.DescribeAggregate: "aggregate",
	cql.DescribeCluster: "cluster",
}
