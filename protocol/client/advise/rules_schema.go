package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/protocol/client/model"
)

// tableByColumn proposes a table that is found by one column.
func tableByColumn(t *Table, c model.Column, more ...model.Column) *proposal {
	p := &proposal{keyspace: t.Keyspace, name: t.Name + "_by_" + c.Name, partition: append([]model.Column{c}, more...)}
	p.clustering = without(append(t.OfKind("clustering"), t.OfKind("partition_key")...), p.partition)
	p.others = without(t.Columns, p.partition, p.clustering)
	return p
}

// isWithinPartitions reports whether queries by the index of a column were observed, and all of them give the
// partition key too, so that one node is asked.
func (l *look) isWithinPartitions(t *Table, c model.Column) bool {
	within, all := 0, 0
	l.selects(func(f *form, q *cql.Select, p *model.Plan) {
		byIndex := slices.ContainsFunc(q.Where, func(r cql.Relation) bool { return r.Columns[0].Name == c.Name })
		if f.table != t || !byIndex {
			return
		}
		all++
		if p.Partitions > 0 {
			within++
		}
	})
	return all > 0 && within == all
}

func checkHighCardinality(l *look) (all []Finding) {
	for _, t := range l.Tables {
		for _, s := range t.Samples {
			c := *t.Column(s.Column)
			if s.Rows < minSample || float64(s.Distinct) < minUniqueValues*float64(s.Rows) || l.isWithinPartitions(t, c) {
				continue
			}
			all = append(all, Finding{
				Table:    t.FullName(),
				Message:  fmt.Sprintf("almost every row has another %s: a query by %s asks all nodes for one row", c.Name, c.Index),
				Evidence: []Evidence{{Detail: fmt.Sprintf("%d distinct values in %d rows", s.Distinct, s.Rows)}},
				Better:   l.cql(tableByColumn(t, c)),
			})
		}
	}
	return all
}

func checkLowCardinality(l *look) (all []Finding) {
	for _, t := range l.Tables {
		for _, s := range t.Samples {
			c := *t.Column(s.Column)
			few := s.Rows >= minSample && s.Distinct <= maxFewValues
			if !few && c.Type != "boolean" || l.isWithinPartitions(t, c) {
				continue
			}
			f := Finding{
				Table: t.FullName(),
				Message: fmt.Sprintf("%s has few values, so the index %s has very large partitions, and a query by it reads "+
					"much of the table", c.Name, c.Index),
				Better: l.cql(tableByColumn(t, c, free(t, "bucket", "int"))),
			}
			if few {
				f.Evidence = []Evidence{{Detail: fmt.Sprintf("%d distinct values in %d rows", s.Distinct, s.Rows)}}
			}
			all = append(all, f)
		}
	}
	return all
}

func checkSASI(l *look) (all []Finding) {
	for _, t := range l.Tables {
		for _, c := range t.Columns {
			if c.IndexKind == "SASIIndex" {
				all = append(all, Finding{
					Table:   t.FullName(),
					Message: "the index " + c.Index + " is a SASI index, which is experimental",
					Better:  "CREATE INDEX ON " + t.CQLName() + " (" + columnNames([]model.Column{c}) + ") USING 'sai';",
				})
			}
		}
	}
	return all
}

func checkViews(l *look) (all []Finding) {
	for _, t := range l.Tables {
		if t.Of != "" {
			all = append(all, Finding{
				Table:   t.FullName(),
				Message: "materialized views are experimental: it may come to differ from " + t.Of + "; write a second table",
			})
		}
	}
	return all
}

func checkReplicas(l *look) (all []Finding) {
	datacenters := map[string]bool{}
	for _, p := range l.Peers {
		datacenters[p.Datacenter] = true
	}
	for _, k := range l.Keyspaces {
		class := k.Replication["class"]
		switch {
		case strings.HasSuffix(class, "SimpleStrategy") && len(datacenters) > 1:
			all = append(all, Finding{Table: k.Name, Message: "SimpleStrategy chooses replicas regardless of datacenters"})
		case len(l.Peers) >= 2 && (k.Replication["replication_factor"] == "1" || onlyOne(k.Replication)):
			message := "rows have one replica: they are unavailable while its node is down"
			all = append(all, Finding{Table: k.Name, Message: message})
		}
	}
	return all
}

// onlyOne reports whether the only datacenter has one replica.
func onlyOne(replication map[string]string) bool {
	n := 0
	for key, value := range replication {
		if key != "class" && value != "1" {
			return false
		} else if key != "class" {
			n++
		}
	}
	return n == 1
}
