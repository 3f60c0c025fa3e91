package model

import (
	"context"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// Keyspace is a keyspace with its options.
type Keyspace struct {
	Name        string
	Replication map[string]string // class, and replication_factor or datacenters
}

// Keyspaces reads all keyspaces, without those of the server, in the order of their names.
func Keyspaces(ctx context.Context, query Query) (all []Keyspace, err error) {
	r, err := query(ctx, "SELECT keyspace_name, replication FROM system_schema.keyspaces")
	if err != nil {
		return nil, err
	}
	for row := range Records(r) {
		if name := row.Text("keyspace_name"); !OfServer(name) {
			all = append(all, Keyspace{Name: name, Replication: row.Map("replication")})
		}
	}
	slices.SortFunc(all, func(a, b Keyspace) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// OfServer reports whether a keyspace belongs to the server: Cassandra's, DSE's or cqld's.
func OfServer(keyspace string) bool {
	for _, prefix := range []string{"system_", "dse_", "cqld_"} {
		if strings.HasPrefix(keyspace, prefix) {
			return true
		}
	}
	return keyspace == "system" || keyspace == "solr_admin"
}

// Settings are options of a table or view.
type Settings struct {
	Comment    string
	TTL        int64             // seconds; 0: rows do not expire by default
	Compaction map[string]string // class and its options
}

// TableSettings reads the options of the tables and views of a keyspace, by their names.
func TableSettings(ctx context.Context, query Query, keyspace string) (map[string]Settings, error) {
	all, where := map[string]Settings{}, " WHERE keyspace_name = "+quote.Text(keyspace)
	for _, from := range []struct{ table, name string }{{"tables", "table_name"}, {"views", "view_name"}} {
		r, err := query.optional(ctx, "SELECT * FROM system_schema."+from.table+where)
		if err != nil {
			return nil, err
		}
		for row := range Records(r) {
			all[row.Text(from.name)] = Settings{
				Comment: row.Text("comment"), TTL: row.Number("default_time_to_live"), Compaction: row.Map("compaction"),
			}
		}
	}
	return all, nil
}

// Map has the entries of a map of texts.
func (r Record) Map(name string) map[string]string {
	b, _ := r.Value(name)
	if b == nil {
		return nil
	}
	all := map[string]string{}
	for k, v := range types.Entries(b) {
		all[string(k)] = string(v)
	}
	return all
}
