// Package histories checks that conditional writes and SERIAL reads are linearizable. Its tests run clients against a
// server, record when each request was sent and answered and what the answer was, and look for an order of the
// requests of each partition in which a simple model gives the same answers. The server runs in memory, or is killed
// and started again meanwhile; or several nodes share an engine, and are stopped and killed; or it is at an address
// that is given, and somebody else disturbs it. A server whose conditional writes read outside their guard has to be
// found.
//
// Plain writes have partitions of their own: Cassandra promises no order of plain and conditional writes.
package histories
