// Package server is the network side: listeners, connections, sessions, prepared statements and events. It
// turns bytes into requests and results into bytes, and leaves what statements mean to the packages below.
//
// # A connection's life
//
// Server.Serve accepts it, and connections.go counts it against the limits. Its reader is the goroutine of conn.run
// (conn.go). Where TLS is spoken, the reader does the handshake first (tls.go). It reads into one buffer (input.go),
// serves every message that has arrived, writes the answers, and waits for more. One of three functions serves the
// first message of the buffer:
//
//	serveHandshake  handshake.go  until STARTUP: STARTUP and OPTIONS (startup.go, options.go), and errors for all else
//	serveEnvelope   envelopes.go  v3 and v4: envelopes, perhaps compressed one by one
//	serveSegment    segments.go   v5: segments with checksums, which have several envelopes or a part of one
//
// Bytes that are not CQL end the connection, at its beginning and later (not_cql.go): a web page may have sent them.
//
// A message with a valid header becomes a request (request.go). The table in dispatch.go says which function serves it:
//
//	QUERY           query.go      plan the text, or find its plan in the cache of texts (planning.go); execute
//	PREPARE         prepare.go    plan the text and keep the plan (prepared.go, statement.go)
//	EXECUTE         execute.go    find the plan, bind the values, execute
//	BATCH           batch.go      find or plan each statement; execute all together
//	REGISTER        register.go   remember which events the connection wants (events.go sends them)
//	AUTH_RESPONSE   auth.go       check a password; without logins everybody is welcome
//	OPTIONS         options.go    what is supported
//
// execution.go hands the plan and the values to planner/exec. That calls request.finish, perhaps much later, which
// makes a message of the result (result.go) or of the error (errors.go, the only place for that) and appends it to the
// write buffer of the connection (output.go).
//
// # Who may do what
//
// Where clients log in, STARTUP is answered with AUTHENTICATE, and nothing but AUTH_RESPONSE is served until a
// password is right (auth.go) or a role has the identity in the client's certificate (certificate_login.go). A
// session has the auth.User who logged in, as of a version of the roles. Before a statement is executed authorize.go
// compares its needs with what the user was granted; a statement remembers the last user who had all of them.
// Definitions and statements about roles are checked where they run, in planner/exec and auth/roles.
//
// # Who runs what
//
// The reader itself serves a request that is quick and never waits (a prepared read of a row, a write that is handed to
// the store), with values that alias the read buffer. Other requests have their bodies copied and get a goroutine, so a
// slow statement holds up nothing, and answers overtake each other. Both are bounded (limits.go): at a limit the
// connection is not read until something is answered, and the client notices because its writes block
// (backpressure.go).
//
// A read that may take long, a batch of many statements and the planning of a long text run on turns (package
// store/pace): only as many run as there are processors, and connections share them equally. memory.go has what all
// connections hold together: arriving messages, requests, planning and answers.
//
// Now and then the watchdog (watchdog.go) checks all connections. It answers writes whose time is over
// (pending_writes.go), and closes connections whose client hung up while they were not read, or holds memory that
// others wait for.
//
// Answers to a burst are written together: by the reader before it waits for more input, or by a goroutine that lets
// others append their answers first. There are no timers.
//
// # Several nodes
//
// A server may stand for the nodes of a ring, over one store (ring.go; ring_listen.go opens their addresses). A
// connection belongs to the node whose address was dialled (node.go), which has prepared statements of its own. The
// node has a ring.View of the others: who is up, and how late their answers come. A request takes its node's view
// along, and planner/exec finds out whether enough replicas answer in time. Whoever stops or slows a node through
// Ring gives all nodes other views, and tells their clients what has changed (ring_views.go).
//
// # Shutting down
//
// Shutdown closes the listeners and tells each connection to drain: it stops reading, waits for its requests,
// writes the answers and closes. Long work that could not begin in two seconds, or has not ended in three and a half,
// is refused then. When the context ends first, the requests are abandoned. Either way every goroutine has ended when
// Shutdown returns.
//
// # Debugging
//
// How long statements take is counted by their kind and table (latency.go); metrics.go counts all else.
//
// At debug level every connection logs when it opens, becomes ready and ends, and why; its id in the log is
// also in the errors about checksums. protocol's messages print themselves in a line. A request with
// the tracing flag leaves its steps in system_traces (trace.go). Panics in requests are answered as server
// errors and logged with their stack. Tests that embed a server can intercept requests (intercept.go); package cqltest
// starts such a server.
package server
