package script

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// loginPrefix begins a line above a statement: the role and password for it and the statements after it.
const loginPrefix = "-- login "

// defaultSuperuser is the role, and the password, of a Cassandra that has no others.
const defaultSuperuser = "cassandra"

// superuser is the default login of a script. A server without logins ignores it.
func superuser(v protocol.Version) client.Options {
	return client.Options{Version: v, Username: defaultSuperuser, Password: defaultSuperuser}
}

// logins are the connections of a script that logs in.
type logins struct {
	addr  string
	super *client.Conn
	conns map[string]*client.Conn // by role and password
	waits bool                    // the server is a Cassandra, which caches roles and permissions
}

// logIn changes to the connection that a line above the statement names, and returns the statement without the line.
func (r *Runner) logIn(ctx context.Context, cql string) (string, error) {
	rest, ok := strings.CutPrefix(cql, loginPrefix)
	if !ok {
		return cql, nil
	}
	who, cql, _ := strings.Cut(rest, "\n")
	l := r.logins
	if l.conns == nil {
		release, err := CassandraRelease(ctx, r.logins.addr)
		l.conns, l.waits = map[string]*client.Conn{}, err == nil && release != ""
		l.settle(ctx, "GRANT") // permissions granted before the first login
	}
	if r.conn = l.conns[who]; r.conn != nil {
		return cql, nil
	}
	name, password, _ := strings.Cut(who, " ")
	conn, err := client.Dial(ctx, l.addr, client.Options{
		Version: r.mode.Version, Username: name, Password: password, Keyspace: r.keyspace,
	})
	if err != nil {
		r.conn = l.super
		return "", err
	}
	l.conns[who], r.conn = conn, conn
	return cql, nil
}

// cacheTime is longer than the Cassandra of compat_tests/oracle caches roles and permissions.
const cacheTime = 250 * time.Millisecond

// settle waits until the change of a statement has reached the caches of Cassandra.
func (l *logins) settle(ctx context.Context, cql string) {
	if !l.waits {
		return
	}
	word, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(cql)), " ")
	switch word {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "USE", "LIST", "DESCRIBE":
		return
	}
	select {
	case <-time.After(cacheTime):
	case <-ctx.Done():
	}
}

// close closes the connections of logins.
func (l *logins) close() (err error) {
	for _, c := range l.conns {
		err = errors.Join(err, c.Close())
	}
	return err
}

// dropRoles drops the roles that a script has left.
func (l *logins) dropRoles(ctx context.Context) error {
	if l.conns == nil {
		return nil
	}
	found, err := l.super.Query(ctx, "LIST ROLES", nil, nil)
	if err != nil {
		return err
	}
	for _, row := range found.Rows {
		if name := string(row[0]); name != defaultSuperuser {
			if _, err := l.super.Query(ctx, `DROP ROLE IF EXISTS "`+name+`"`, nil, nil); err != nil {
				return err
			}
		}
	}
	l.settle(ctx, "DROP")
	return nil
}
