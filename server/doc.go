// Package server is the network side: listeners, connections, sessions, prepared statements and events. It
// turns bytes into requests and results into bytes, and leaves what statements mean to the packages below.
//
// # A connection's life
//
// Server.Serve accepts it and admit.go counts it against the limits. conn.run (conn.go) is its goroutine: it
// reads into one buffer (input.go), serves every message that has arrived, writes the answers, and waits for
// more. What stands first in the buffer is taken by one of three functions in take.go:
//
//	takeHandshake   until STARTUP: OPTIONS and STARTUP (startup.go, options.go), everything else is refused
//	takeEnvelope    v3 and v4: envelopes, perhaps compressed one by one
//	takeSegment     v5: segments with checksums, each with envelopes or a slice of one
//
// A message whose header is fine becomes a request (request.go). The table in dispatch.go says who serves it:
//
//	QUERY           query.go      plan the text, or find its plan in the cache of texts; execute
//	PREPARE         prepare.go    plan the text and keep the plan (prepared.go, statement.go)
//	EXECUTE         execute.go    find the plan, bind the values, execute
//	BATCH           batch.go      find or plan each statement; execute all together
//	REGISTER        register.go   remember which events the connection wants (events.go sends them)
//	AUTH_RESPONSE   auth.go       everybody is welcome
//	OPTIONS         options.go    what is supported
//
// Execution is planner/exec's. It calls request.finish, perhaps much later, which makes a message of the
// result (result.go) or of the error (errors.go, the only place where that is done) and appends it to the
// connection's write buffer (output.go).
//
// # Who runs what
//
// A request that waits for nothing (a prepared read of a row, a write that is handed to the store) is served by the
// goroutine that read it, with values that alias the read buffer. Everything else has its body copied and gets
// a goroutine; so a slow statement holds up nobody, and answers overtake each other. Both are bounded
// (limits.go): at a limit the connection is not read from until something is answered, and the client notices
// because its writes block (take_memory.go).
//
// A read that may take long, a batch of many statements and the planning of a long text wait for a turn
// (turns.go, package store/pace): only as many run as there are processors, and connections share them equally. What
// all connections hold together is in memory.go: messages that arrive, requests, planning and answers.
//
// Once in a while watch.go looks at all connections: for writes whose time is over (writes.go), for clients
// that hung up while nobody reads their connection, and for those that hold memory that others wait for.
//
// Answers to a burst are written together: by the reader before it waits for more input, or by a goroutine
// that lets others who are about to answer go first. There are no timers.
//
// # Shutting down
//
// Shutdown closes the listeners and tells each connection to drain: it stops reading, waits for its requests,
// writes the answers and closes. When the context ends first, the requests are abandoned. Either way every
// goroutine has ended when Shutdown returns.
//
// # Debugging
//
// At debug level every connection logs when it opens, becomes ready and ends, and why; its id in the log is
// also in the errors about checksums. protocol's messages print themselves in a line. A request with
// the tracing flag leaves its steps in system_traces (trace.go). Panics in requests are answered as server
// errors and logged with their stack. Tests that embed a server can stand in the way of requests
// (intercept.go); cqltest starts such a server.
package server
