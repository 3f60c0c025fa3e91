// Package migrate runs the suite that golang-migrate exports for its database drivers with its Cassandra
// driver, each part in a separate keyspace:
//
//	go test . -addr HOST:PORT
//
// It is a separate module, so that cqld does not depend on golang-migrate.
package migrate

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gocql/gocql"
	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/cassandra"
	suite "github.com/golang-migrate/migrate/v4/database/testing"
	"github.com/golang-migrate/migrate/v4/source/iofs"
)

var addr = flag.String("addr", "", "the address of the server")

func TestNilVersion(t *testing.T) { suite.TestNilVersion(t, open(t)) }

func TestLockAndUnlock(t *testing.T) { suite.TestLockAndUnlock(t, open(t)) }

func TestRun(t *testing.T) {
	suite.TestRun(t, open(t), strings.NewReader("CREATE TABLE made_by_run (k int PRIMARY KEY)"))
}

func TestSetVersion(t *testing.T) { suite.TestSetVersion(t, open(t)) }

func TestDrop(t *testing.T) {
	d := open(t)
	suite.TestRun(t, d, strings.NewReader("CREATE TABLE to_drop (k int PRIMARY KEY)"))
	suite.TestDrop(t, d)
}

func TestMigrate(t *testing.T) {
	files, err := iofs.New(fstest.MapFS{
		"1_users.up.sql":    {Data: []byte("CREATE TABLE users (id uuid PRIMARY KEY, name text)")},
		"1_users.down.sql":  {Data: []byte("DROP TABLE users")},
		"2_orders.up.sql":   {Data: []byte("CREATE TABLE orders (id uuid, item int, PRIMARY KEY (id, item))")},
		"2_orders.down.sql": {Data: []byte("DROP TABLE orders")},
	}, ".")
	if err != nil {
		t.Fatal(err)
	}
	m, err := migrate.NewWithInstance("iofs", files, "cassandra", open(t))
	if err != nil {
		t.Fatal(err)
	}
	suite.TestMigrate(t, m)
}

// open connects the driver to an empty keyspace.
func open(t *testing.T) database.Driver {
	t.Helper()
	keyspace := "migrate_" + strings.ToLower(t.Name())
	cluster := gocql.NewCluster(*addr)
	cluster.Timeout = 20 * time.Second
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	drop := "DROP KEYSPACE IF EXISTS " + keyspace
	for _, cql := range []string{
		drop,
		"CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	} {
		if err := session.Query(cql).Exec(); err != nil {
			t.Fatalf("%s: %v", cql, err)
		}
	}
	d, err := (&cassandra.Cassandra{}).Open(fmt.Sprintf("cassandra://%s/%s?protocol=4", *addr, keyspace))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := session.Query(drop).Exec(); err != nil {
			t.Error(err)
		}
		session.Close()
	})
	return d
}
