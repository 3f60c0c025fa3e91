package planner

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// lines gathers the parts of a plan, one to a line.
type lines []string

func (l *lines) add(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

func (l *lines) addAll(more []string) { *l = append(*l, more...) }

// String returns the parts, all but the first indented.
func (l lines) String() string { return strings.Join(l, "\n  ") }

// String returns the plan in words.
func (s *Select) String() string {
	var l lines
	l.add("select %s from %s", s.Selection, tableName(s.Table))
	l.addAll(s.Where.Lines())
	l.flag(s.Distinct, "distinct")
	if s.Grouping != nil {
		l.add("one row for each %s", s.Grouping)
		l.flag(s.Grouping.Refused != nil, "refused when it is run")
	}
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

// String returns the plan in words.
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
	if m.If != nil {
		l.flag(m.If.NotExists, "if it does not exist")
		l.flag(m.If.Exists, "if it exists")
		for _, list := range [...][]*Condition{m.If.Rows, m.If.Statics} {
			for _, c := range list {
				l.add("if %s", c)
			}
		}
	}
	return l.String()
}

// String is the condition with its values.
func (c *Condition) String() string {
	name := c.Column.Name
	if c.Part != nil {
		name += "[" + c.Part.String() + "]"
	}
	if c.Field >= 0 {
		name += "." + c.Column.Type.(*types.UserType).Fields[c.Field].Name
	}
	if c.List != nil {
		return fmt.Sprintf("%s %s %s %s", c.Column.Kind, name, c.Op, c.List)
	}
	values := make([]string, len(c.Values))
	for i, v := range c.Values {
		values[i] = v.String()
	}
	return fmt.Sprintf("%s %s %s %s", c.Column.Kind, name, c.Op, strings.Join(values, ", "))
}

// String returns the change in words.
func (s *SetColumn) String() string {
	what, name := "set", s.Column.Name
	switch s.Change {
	case Add, Prepend, Remove, Sum:
		what = [...]string{Add: "add to", Prepend: "put in front of", Remove: "remove from", Sum: "add to what is in"}[s.Change]
	case SetPart:
		name += "[" + s.Part.String() + "]"
	case SetField:
		name += "." + s.Column.Type.(*types.UserType).Fields[s.Field].Name
	}
	return fmt.Sprintf("%s %s %s = %s", what, s.Column.Kind, name, s.Value)
}

// String returns the plan in words.
func (b *Batch) String() string {
	var l lines
	l.add("%s batch", [...]string{"logged", "unlogged", "counter"}[b.Kind])
	l.value("timestamp", b.Timestamp)
	for _, m := range b.Statements {
		l.add("%s", strings.ReplaceAll(m.String(), "\n", "\n  "))
	}
	return l.String()
}

// String returns the plan in words.
func (u *Use) String() string { return "use " + u.Keyspace }

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
