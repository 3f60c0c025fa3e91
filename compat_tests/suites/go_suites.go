package main

import (
	"context"
	"path/filepath"
)

// gocql is the first Go driver. Except TestDiscoverViaProxy and a few flags, its tests run on one node.
func gocql(name, protocol string) suite {
	return moduleSuite(suite{name: name, version: "v1.7.0", protocol: protocol, keyspace: "gocql_test"}, "github.com/gocql/gocql", goTests{
		tags:     "cassandra integration",
		packages: []string{"."},
		args:     gocqlFlags,
	})
}

// apacheGocql is the successor of gocql. TestDocker is skipped: it starts its own server.
func apacheGocql(name, protocol string) suite {
	return moduleSuite(suite{name: name, version: "v2.1.2", protocol: protocol, keyspace: "gocql_test"}, "github.com/apache/cassandra-gocql-driver/v2", goTests{
		tags:     "cassandra integration",
		packages: []string{"."},
		skip:     []string{"TestDocker"},
		args:     gocqlFlags,
	})
}

// scyllaGocql is Scylla's fork of gocql. It expects the hosts of system tables on its configured port, which its tests
// leave at 9042. TestNewConnectWithLowTimeout is skipped: it fails when an answer comes within nanoseconds, and both
// servers are sometimes that fast.
var scyllaGocql = onUsualPort(moduleSuite(suite{name: "scylladb-gocql", version: "v1.18.0", protocol: "v4", keyspace: "gocql_test"}, "github.com/scylladb/gocql", goTests{
	tags:     "integration",
	packages: []string{"."},
	skip:     []string{"TestNewConnectWithLowTimeout"},
	args:     append([]string{"-distribution=cassandra"}, gocqlFlags...),
}))

// gocqlx builds queries and scans into structs on Scylla's fork. Its other packages need no server.
var gocqlx = moduleSuite(suite{name: "gocqlx", version: "v3.0.4", protocol: "v4", keyspace: "gocqlx_test"}, "github.com/scylladb/gocqlx/v3", goTests{
	tags:     "all integration",
	packages: []string{".", "./dbutil", "./migrate", "./migrate/example", "./cmd/schemagen"},
	args:     []string{"-gocql.timeout=60s"},
})

// gocqlFlags are the test flags that gocql and its forks share.
var gocqlFlags = []string{
	"-rf=1", "-clusterSize=1", "-autowait=1s", "-gocql.timeout=60s", "-gocql.cversion=5.0.8",
}

// moduleSuite completes a suite that is a module from the module proxy, whose tests take an address and a
// protocol version as gocql's do.
func moduleSuite(s suite, module string, tests goTests) suite {
	s.run = func(ctx context.Context, e *environment) ([]outcome, error) {
		folder, err := goModule(ctx, e, module, s.version)
		if err != nil {
			return nil, err
		}
		t := tests
		t.args = append([]string{"-cluster=" + e.addr, "-proto=" + s.protocol[1:]}, tests.args...)
		return t.run(ctx, e, folder)
	}
	return s
}

// migrate is the suite that golang-migrate exports for its database drivers. The folder migrate is a separate module
// that calls it.
var migrate = suite{
	name: "golang-migrate", version: "v4.20.1", protocol: "v4",
	run: func(ctx context.Context, e *environment) ([]outcome, error) {
		folder := filepath.Join("compat_tests", "suites", "migrate")
		tests := goTests{packages: []string{"."}, args: []string{"-addr=" + e.addr}}
		return tests.run(ctx, e, folder)
	},
}
