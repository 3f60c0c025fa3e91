// Package cluster makes several servers that share an engine one cluster. Servers do not talk to each other: they know
// each other only through records of the engine.
//
// Each server is a Node. It registers a Member record and renews it a few times a second. A node whose record does not
// change for a while is down (see members.go).
//
// The definitions of tables have a version, which is a record too. A node holds a lease: for a second after it has
// seen that its definitions are the newest it may use them. It renews the lease long before it ends, and a node that
// was stopped in between finds that its lease is over. A node that changes definitions waits until all others have
// followed, or their leases have ended (see lease.go). So no statement runs on definitions that are older than the
// lease.
//
// The nodes share the engine's clock. Each write takes a timestamp of it, so that a write that begins after another was
// answered has the later timestamp, on whichever nodes both were made (see clock.go). A node that is alone takes its
// timestamps by itself (see alone.go).
package cluster
