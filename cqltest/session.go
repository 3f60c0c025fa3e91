package cqltest

import (
	"fmt"
	"strings"
	"testing"
)

// Session connects a driver: it creates a keyspace that nothing else uses, has connect open a session, and closes the
// session when the test ends. It works with any driver, so that none is a dependency of this package:
//
//	session := cqltest.Session(t, srv, func(addr, keyspace string) (*gocql.Session, error) {
//		cluster := gocql.NewCluster(addr)
//		cluster.Keyspace = keyspace
//		return cluster.CreateSession()
//	})
//
// Packages gocqltest and gocqlv2test do this for the two lines of gocql.
func Session[S interface{ Close() }](t testing.TB, s *Server, connect func(addr, keyspace string) (S, error)) S {
	t.Helper()
	keyspace := s.Keyspace(t)
	session, err := connect(s.Addr(), keyspace)
	if err != nil {
		t.Fatalf("connect to %s: %v", s.Addr(), err)
	}
	t.Cleanup(session.Close)
	return session
}

// maxName is how much of a test's name the name of its keyspace has.
const maxName = 30

// Keyspace creates a keyspace with one replica and returns its name, which is made of the test's: t_orders_1.
func (s *Server) Keyspace(t testing.TB) string {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, strings.TrimPrefix(t.Name(), "Test"))
	name = fmt.Sprintf("t_%s_%d", name[:min(len(name), maxName)], s.keyspaces.Add(1))
	s.Exec(t, "CREATE KEYSPACE "+name+
		" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	return name
}
