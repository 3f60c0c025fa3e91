package roles

import (
	"context"
	"fmt"
	"slices"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// keyspace has the tables of roles.
const keyspace = "system_auth"

// role is a row of system_auth.roles.
type role struct {
	name     string
	exists   bool
	super    bool
	login    bool
	memberOf []string
	hash     string // of its password; "": it has none
	hashed   int64  // the microsecond when the hash was written
}

// role reads a role. It may not exist.
func (k *Keeper) role(ctx context.Context, name string) (role, error) {
	r := role{name: name}
	if name == "" {
		return r, nil
	}
	t := k.table("roles")
	err := k.read(ctx, store.Read{Table: t, Keys: [][]byte{[]byte(name)}, Meta: true}, func(row *store.Row) {
		r.exists = true
		r.super = isTrue(row.Values[t.Column("is_superuser").Index])
		r.login = isTrue(row.Values[t.Column("can_login").Index])
		r.memberOf = texts(row.Values[t.Column("member_of").Index])
		hash := t.Column("salted_hash").Index
		r.hash, r.hashed = string(row.Values[hash]), row.Meta[hash].Timestamp
	})
	return r, err
}

// allRoles are the names of all roles, sorted.
func (k *Keeper) allRoles(ctx context.Context) ([]string, error) {
	var names []string
	err := k.read(ctx, store.Read{Table: k.table("roles")}, func(row *store.Row) {
		names = append(names, string(row.Partition))
	})
	slices.Sort(names)
	return names, err
}

// permissionsOf calls fn with the permissions of a role on a resource, or on each if the resource is "". Only grants
// to the role itself count.
func (k *Keeper) permissionsOf(
	ctx context.Context, name, resource string, fn func(resource string, p auth.Permissions),
) error {
	r := store.Read{Table: k.table("role_permissions"), Keys: [][]byte{[]byte(name)}}
	if resource != "" {
		at := [][]byte{[]byte(resource)}
		r.Slices = []store.Slice{{Start: at, End: at, StartInclusive: true, EndInclusive: true}}
	}
	return k.permissions(ctx, r, func(_, resource string, p auth.Permissions) { fn(resource, p) })
}

// permissions calls fn with the grants that a read finds.
func (k *Keeper) permissions(
	ctx context.Context, r store.Read, fn func(role, resource string, p auth.Permissions),
) error {
	resource, held := r.Table.Column("resource").Index, r.Table.Column("permissions").Index
	return k.read(ctx, r, func(row *store.Row) {
		var p auth.Permissions
		for _, word := range texts(row.Values[held]) {
			p |= auth.ParsePermission(word)
		}
		if p != 0 {
			fn(string(row.Partition), string(row.Values[resource]), p)
		}
	})
}

// roleOf is the role of an identity; "": it was not added.
func (k *Keeper) roleOf(ctx context.Context, identity string) (string, error) {
	name := ""
	if identity == "" {
		return "", nil
	}
	t := k.table("identity_to_role")
	err := k.read(ctx, store.Read{Table: t, Keys: [][]byte{[]byte(identity)}}, func(row *store.Row) {
		name = string(row.Values[t.Column("role").Index])
	})
	return name, err
}

// identitiesOf are the identities of a role.
func (k *Keeper) identitiesOf(ctx context.Context, name string) ([]string, error) {
	var all []string
	t := k.table("identity_to_role")
	err := k.read(ctx, store.Read{Table: t}, func(row *store.Row) {
		if string(row.Values[t.Column("role").Index]) == name {
			all = append(all, string(row.Partition))
		}
	})
	return all, err
}

// clusterings are the values of the clustering column of a partition's rows.
func (k *Keeper) clusterings(ctx context.Context, table, key string) ([]string, error) {
	var all []string
	t := k.table(table)
	err := k.read(ctx, store.Read{Table: t, Keys: [][]byte{[]byte(key)}}, func(row *store.Row) {
		all = append(all, string(row.Values[t.Clustering[0].Index]))
	})
	return all, err
}

// table is a table of system_auth.
func (k *Keeper) table(name string) *schema.Table { return k.store.Catalog().Table(keyspace, name) }

// read calls fn for each row.
func (k *Keeper) read(ctx context.Context, r store.Read, fn func(*store.Row)) error {
	r.Now = k.store.Now().Unix()
	err := k.store.Read(ctx, &r, func(row *store.Row) (bool, error) {
		fn(row)
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("read %s.%s: %w", r.Table.Keyspace, r.Table.Name, err)
	}
	return nil
}

// isTrue is a boolean value; null is false.
func isTrue(b []byte) bool { return len(b) > 0 && b[0] != 0 }

// texts are the elements of a set.
func texts(b []byte) []string {
	var all []string
	if b == nil {
		return nil
	}
	for e := range types.Elements(b) {
		all = append(all, string(e))
	}
	return all
}

// writing gathers the mutations of a statement, which are applied as one.
type writing struct {
	k         *Keeper
	at        int64
	err       error // there is no timestamp
	mutations []*store.Mutation
}

func (k *Keeper) write() *writing {
	at, err := k.store.TimestampAt(k.store.Now())
	return &writing{k: k, at: at, err: err}
}

// row starts a row of a table. clustering is "" for tables that have no clustering column.
func (w *writing) row(t *schema.Table, key, clustering string) *store.Mutation {
	m := w.partition(t, key)
	if len(t.Clustering) == 0 {
		m.Row(nil)
	} else {
		m.Row([][]byte{[]byte(clustering)})
	}
	return m
}

// partition starts a mutation of a partition.
func (w *writing) partition(t *schema.Table, key string) *store.Mutation {
	m := store.NewMutation(t, []byte(key))
	m.At(w.k.store.Now().Unix())
	w.mutations = append(w.mutations, m)
	return m
}

// role writes the given columns of a role. If marked is set the role exists from now on.
func (w *writing) role(r role, super, login *bool, hash *string, marked bool) {
	t := w.k.table("roles")
	m := w.row(t, r.name, "")
	if marked {
		m.Mark(w.at, store.Expiry{})
	}
	if super != nil {
		m.Set(t.Column("is_superuser"), boolean(*super), w.at, store.Expiry{})
	}
	if login != nil {
		m.Set(t.Column("can_login"), boolean(*login), w.at, store.Expiry{})
	}
	if hash != nil {
		m.Set(t.Column("salted_hash"), []byte(*hash), w.at, store.Expiry{})
	}
}

func boolean(b bool) []byte {
	if b {
		return []byte{1}
	}
	return []byte{0}
}

// element adds an element to a set, or takes it out.
func (w *writing) element(t *schema.Table, key, clustering, set string, there bool, elements ...string) {
	m := w.row(t, key, clustering)
	for _, e := range elements {
		var value []byte
		if there {
			value = []byte{}
		}
		m.SetPart(t.Column(set), []byte(e), value, w.at, store.Expiry{})
	}
}

// mark adds a row that has nothing but its key.
func (w *writing) mark(t *schema.Table, key, clustering string) {
	w.row(t, key, clustering).Mark(w.at, store.Expiry{})
}

// deleteRow deletes a row.
func (w *writing) deleteRow(t *schema.Table, key, clustering string) {
	w.row(t, key, clustering).DeleteRow(w.at)
}

// deletePartition deletes a partition.
func (w *writing) deletePartition(t *schema.Table, key string) {
	w.partition(t, key).DeletePartition(w.at)
}

// apply applies the mutations and makes a new version.
func (w *writing) apply(ctx context.Context) error {
	if len(w.mutations) == 0 || w.err != nil {
		return w.err
	}
	done := make(chan error, 1)
	w.k.store.Apply(w.mutations, func(err error) { done <- err })
	err := <-done
	w.k.Changed()
	if err != nil {
		return fmt.Errorf("write to %s: %w", keyspace, err)
	}
	return ctx.Err()
}
