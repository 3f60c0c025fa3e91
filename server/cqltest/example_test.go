package cqltest_test

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/server/cqltest"
)

// An application's test: a server of its own, and the application's driver.
func TestGocql(t *testing.T) {
	srv := cqltest.RunT(t)
	session, err := gocql.NewCluster(srv.Addr()).CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()

	for _, statement := range []string{
		"CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE shop.orders (customer int, day date, item text, PRIMARY KEY (customer, day))",
		"INSERT INTO shop.orders (customer, day, item) VALUES (1, '2024-02-29', 'tea')",
	} {
		if err := session.Query(statement).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	var item string
	if err := session.Query("SELECT item FROM shop.orders WHERE customer = ?", 1).Scan(&item); err != nil || item != "tea" {
		t.Errorf("%q, %v", item, err)
	}
}
