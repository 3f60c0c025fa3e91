package roles

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"golang.org/x/crypto/bcrypt"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
	"github.com/cqld/cqld/store/system"
)

// folders are the engines in memory that stand for folders.
var folders sync.Map

// open opens a folder, and the roles in it.
func open(t *testing.T, folder string) (*store.Store, *Keeper, *strings.Builder) {
	t.Helper()
	st, err := store.Open(store.Options{
		Engine: func(f engine.Fold) (engine.Engine, error) {
			e := enginetest.NewMemory(f, false)
			if kept, ok := folders.Swap(folder, e); ok {
				e = kept.(*enginetest.Memory).Reopen(f)
				folders.Store(folder, e)
			}
			return e, nil
		},
		System: system.Definitions(),
		Log:    zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	logged := &strings.Builder{}
	k, err := Open(Options{Store: st, Log: zerolog.New(logged), Cost: bcrypt.MinCost})
	if err != nil {
		t.Fatal(err)
	}
	return st, k, logged
}

// local is the address that logins come from.
var local = netip.MustParseAddr("127.0.0.1")

// run runs a statement of the superuser.
func run(t *testing.T, k *Keeper, s cql.Statement) {
	t.Helper()
	u, err := k.User(t.Context(), defaultSuperuser)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Run(t.Context(), u, &auth.Statement{Statement: s}); err != nil {
		t.Fatal(err)
	}
}

// Roles are there after a restart, and the superuser is made once.
func TestRolesAreKept(t *testing.T) {
	folder := t.TempDir()
	st, k, logged := open(t, folder)
	if !strings.Contains(logged.String(), "created the default superuser") ||
		!strings.Contains(logged.String(), "still has the default password") {
		t.Errorf("logged %s", logged)
	}
	run(t, k, &cql.CreateRole{Role: "admin", Options: []cql.RoleOption{
		&cql.RoleFlag{Value: true}, &cql.RoleFlag{Login: true, Value: true}, &cql.RolePassword{Text: "secret"},
	}})
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}

	st, k, logged = open(t, folder)
	defer st.Close()
	if strings.Contains(logged.String(), "created") {
		t.Errorf("logged %s", logged)
	}
	ctx := context.Background()
	if err := k.Login(ctx, local, "admin", "secret"); err != nil {
		t.Error(err)
	}
	r, err := k.role(ctx, "admin")
	if err != nil || !strings.HasPrefix(r.hash, "$2a$04$") || strings.Contains(r.hash, "secret") {
		t.Errorf("the role is %+v, %v", r, err)
	}
	admin, err := k.User(ctx, "admin")
	if err != nil || !admin.Super {
		t.Fatalf("%+v, %v", admin, err)
	}
	drop := &auth.Statement{Statement: &cql.DropRole{Role: defaultSuperuser}}
	if _, err := k.Run(ctx, admin, drop); err != nil {
		t.Fatal(err)
	}
	if err := k.Login(ctx, local, defaultSuperuser, defaultPassword); err == nil {
		t.Error("a dropped role can log in")
	}
	names, err := k.allRoles(ctx)
	if err != nil || len(names) != 1 {
		t.Errorf("the roles are %v, %v", names, err)
	}
}

// A password is cut where bcrypt ends, as Cassandra does, and is not refused for its length.
func TestLongPasswords(t *testing.T) {
	long := strings.Repeat("0123456789", 10)
	hash, err := hashPassword(long, bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	if !matches(hash, long) || !matches(hash, long[:maxPassword]) || matches(hash, long[:maxPassword-1]) {
		t.Error("the wrong part of a long password counts")
	}
}
