// Package histories checks that conditional writes and SERIAL reads are linearizable. Its tests run clients against a
// server and record each request with its answer and both times. Then porcupine looks for an order of the requests of
// each partition in which a simple model gives the same answers.
//
// The server runs in memory, or is killed and restarted meanwhile; or several nodes share an engine and are stopped and
// killed; or -at gives addresses of servers that another program disturbs. One test breaks the server on purpose, by
// conditional writes that read outside their lock, and expects the violation to be found.
//
// Plain writes go to separate partitions: Cassandra promises no order of plain and conditional writes.
package histories
