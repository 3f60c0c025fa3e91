// Package gocqltest connects tests that use github.com/gocql/gocql to servers of package cqltest, which itself
// imports no driver.
package gocqltest

import (
	"testing"
	"time"

	gocql "github.com/gocql/gocql"

	"github.com/cqld/cqld/cqltest"
)

// Session returns a session on a server, with a keyspace that nothing else uses. It is closed when the test ends.
// It uses TLS if the server does. Configure functions may change the driver's configuration before it connects.
func Session(t testing.TB, s *cqltest.Server, configure ...func(*gocql.ClusterConfig)) *gocql.Session {
	t.Helper()
	return cqltest.Session(t, s, func(addr, keyspace string) (*gocql.Session, error) {
		cluster := Cluster(addr)
		cluster.Keyspace = keyspace
		if config := s.TLSConfig(); config != nil {
			cluster.SslOpts = &gocql.SslOptions{Config: config}
		}
		for _, change := range configure {
			change(cluster)
		}
		return cluster.CreateSession()
	})
}

// Cluster returns the driver's configuration for the server at an address: one connection, which is opened again at
// once when the server has closed it, and no timestamps of the driver's own, so that the server's clock counts.
func Cluster(addr string) *gocql.ClusterConfig {
	cluster := gocql.NewCluster(addr)
	cluster.NumConns = 1
	cluster.DefaultTimestamp = false
	cluster.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 10, Interval: 10 * time.Millisecond}
	return cluster
}
