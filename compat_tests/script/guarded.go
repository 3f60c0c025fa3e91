package script

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cqld/cqld/protocol/client"
)

// Login is a name and a password.
type Login struct{ Username, Password string }

// Logins are the accounts of a server that checks passwords: guardrails do not apply to its superusers.
type Logins struct{ Admin, User Login }

// guarded is the additional state of the runner of a script with settings.
type guarded struct {
	admin *client.Conn // makes and drops keyspaces; nil: the server ends after the script
}

// open drops and creates the keyspace of a script and connects to it.
func (s *Script) open(ctx context.Context, addr, keyspace string, m Mode) (*Runner, error) {
	if s.Settings == "" {
		return Open(ctx, addr, keyspace, m)
	}
	r := &Runner{mode: m, keyspace: keyspace, guarded: &guarded{}}
	admin := client.Options{Version: m.Version}
	user := admin
	if s.Logins != nil {
		admin.Username, admin.Password = s.Logins.Admin.Username, s.Logins.Admin.Password
		user.Username, user.Password = s.Logins.User.Username, s.Logins.User.Password
	}
	conn, err := client.Dial(ctx, addr, admin)
	if err != nil {
		return nil, err
	}
	r.guarded.admin = conn
	if err := dropAll(ctx, conn, keyspace); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	// Guardrails against SimpleStrategy and some factors do not matter here, where there are no superusers.
	create := "CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'NetworkTopologyStrategy'}"
	if _, err := conn.Query(ctx, create, nil, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", create, err), conn.Close())
	}
	user.Keyspace = keyspace
	if r.conn, err = client.Dial(ctx, addr, user); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	r.logins = &logins{addr: addr, super: r.conn}
	if s.Logins == nil {
		r.guarded.admin = nil
		return r, conn.Close()
	}
	return r, nil
}

// drop drops the tables and other objects that the script has left.
func (g *guarded) drop(ctx context.Context, keyspace string) error {
	if g.admin == nil {
		return nil
	}
	return errors.Join(dropAll(ctx, g.admin, keyspace), g.admin.Close())
}

// dropAll drops the keyspaces whose names begin with a text.
func dropAll(ctx context.Context, conn *client.Conn, prefix string) error {
	all, err := conn.Query(ctx, "SELECT keyspace_name FROM system_schema.keyspaces", nil, nil)
	if err != nil {
		return err
	}
	for _, row := range all.Rows {
		if name := string(row[0]); strings.HasPrefix(name, prefix) {
			if _, err := conn.Query(ctx, "DROP KEYSPACE "+name, nil, nil); err != nil {
				return fmt.Errorf("drop %s: %w", name, err)
			}
		}
	}
	return nil
}
