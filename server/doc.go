// Package server is the network side: listeners, connections, sessions, prepared statements and events. It
// turns bytes into requests and results into bytes. The packages below it know the meaning of statements.
//
// # A connection's life
//
// Server.Serve accepts it, and connections.go counts it against the limits. The goroutine of conn.serve (conn.go) is
// its reader. Where TLS is spoken, the reader does the handshake first (tls.go). It reads into one buffer
// (wire.Input), serves every message that has arrived, writes the answers (wire.Output), and waits for more. One of
// three functions serves the first message of the buffer:
//
//	serveHandshake  handshake.go  until STARTUP: STARTUP and OPTIONS, and errors for all else
//	serveEnvelope   envelopes.go  v3 and v4: envelopes, perhaps compressed one by one
//	serveSegment    envelopes.go  v5: segments with checksums, each with one or more envelopes or a part of one
//
// Bytes that are not CQL end the connection, at its beginning and later: a web page may have sent them.
//
// A message with a valid header becomes a request (request.go). The table in dispatch.go names its handler:
//
//	QUERY           query.go      plan the text, or find its plan in statements.Texts; execute
//	PREPARE         query.go      plan the text and keep the plan in statements.Prepared
//	EXECUTE         query.go      find the plan, bind the values, execute
//	BATCH           batch.go      find or plan each statement; execute all as one
//	REGISTER        events.go     remember which events the connection wants, and send them later
//	AUTH_RESPONSE   login.go      check a password; without logins every client is welcome
//	OPTIONS         handshake.go  list the supported versions and compressions
//
// execution.go hands the plan and the values to planner/exec. That calls request.finish, perhaps much later. Then
// result.go makes a message of the result or of the error (the only place for that), and the request appends it to the
// output of the connection.
//
// # Permissions
//
// Where clients log in, STARTUP is answered with AUTHENTICATE, and only AUTH_RESPONSE is served until a password is
// right or a role has the identity in the client's certificate (login.go). A session has the auth.User who logged in,
// as of a version of the roles. Before a statement is executed login.go compares its needs with the user's
// permissions; a statement remembers the last user who had all of them. Definitions and statements about roles are
// checked where they are executed, in planner/exec and auth/roles.
//
// # Goroutines, turns and backpressure
//
// The reader itself serves a request that never waits, with values that alias the read buffer. It hands a write to the
// store. It starts a read with a budget of steps and time; if that is spent, a goroutine begins the read again, and
// nothing was sent before. Other requests go to a goroutine at once, with a copy of their body. So a slow statement
// does not block its connection, and answers overtake each other. Requests and goroutines are bounded (limits.go): at
// a limit the connection is not read until a request is answered, and the client notices because its writes block
// (request_limits.go).
//
// In a goroutine, reads, batches of many statements and the planning of long texts run on turns (package store/pace):
// only as many run as there are processors, and connections share them equally. The type memory (limits.go) is the
// memory of all connections: arriving messages, requests, planning and answers.
//
// The watchdog (connections.go) periodically checks all connections. It answers writes whose time is over
// (pending_writes.go), and closes connections whose client hung up while they were not read, or holds memory that
// others wait for.
//
// Answers to a burst are written in few writes: by the reader before it waits for more input, or by a goroutine that
// lets others append their answers first. There are no timers.
//
// # Several nodes
//
// A server may act as the nodes of a ring, over one store (ring.go; ring_listen.go opens their addresses). A
// connection belongs to the node whose address was dialled (node.go), which has its own prepared statements. The node
// has a ring.View of the others: which are up, and how late their answers come. A request takes its node's view along,
// and planner/exec finds out whether enough replicas answer in time. The methods of Ring that stop or slow a node give
// all nodes new views, and send their clients events about the difference.
//
// # Shutting down
//
// Shutdown closes the listeners and makes each connection drain: it stops reading, waits for its requests, writes the
// answers and closes. Long work that could not begin in two seconds, or has not ended in three and a half, is refused
// then. When the context ends first, the requests are abandoned. Either way every goroutine has ended when Shutdown
// returns.
//
// # Debugging
//
// Package observe counts how long statements take, by their kind and table; metrics.go counts the rest, and system.go
// shows it in virtual tables. Package trace writes the steps of a request with the tracing flag to system_traces.
//
// At debug level every connection logs when it opens, becomes ready and ends, and why; its id in the log is also in
// the errors about checksums. The messages of package protocol print themselves in a line. Panics in requests are
// answered as server errors and logged with their stack. Tests that embed a server can intercept requests
// (inspect.go); package cqltest starts such a server.
package server
