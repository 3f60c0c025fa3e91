// Package drivers runs real client drivers against a server, from outside over TCP.
//
// The two Go drivers are tests of this package: gocql v1.7.0 and Apache's v2.1.2, in the protocol versions
// and compressions each offers. Without -addr they run against a server in this process,
// with -addr HOST:PORT against any other, Cassandra included:
//
//	go test -C compat_tests/drivers . -addr 127.0.0.1:9042
//
// The drivers of other languages have a folder each, with a small program that an application's author would
// recognize. The script run installs their packages, starts a server and runs all of them: see its usage. Every
// driver does the same: it connects, defines a keyspace and a table, prepares, writes 10,000 rows concurrently,
// reads them in pages of 100, sees a schema event, uses a keyspace by name, and gets errors as the driver's own
// classes.
//
// The same programs connect through TLS when the environment has CQL_CA, the file of an authority to trust, and show a
// certificate when it has CQL_CERT and CQL_KEY: the script's drivers whose names begin with tls- do so.
//
// The table faults.json lists all faults that a server with test controls can inject. Each must arrive as the driver's
// own error with its fields, for plain and for prepared statements, and writes that the fault lets through must be
// applied. TestGocqlFaults checks both lines of gocql; the script's drivers whose names begin with faults- check
// Python, Java and Node.
//
// ring-java makes nodes of a ring fail and sends requests through the Java driver's own policies: the default load
// balancing with and without other datacenters, both retry policies and speculative executions. Each scenario lists
// the results that the application gets and the nodes that coordinate its requests. cqltest does the same for gocql.
//
// Programs for gocql, Python and Java also compare the metadata that their drivers read from cqld and from Cassandra
// after the same definitions: make metadata.
package drivers
