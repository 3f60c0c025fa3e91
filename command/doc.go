// Package command has the commands of the programs cqld and cqld-cluster.
//
// A Program runs the command that its arguments name; command.go lists all commands. For
//
//	cqld serve --data /var/lib/cqld --auth password
//
// these steps follow each other:
//
//   - flags.go declares the flags and values.go their types. A flag that is not given is read from the environment
//     (environment.go). settings.go checks combinations of flags, config.go reads guardrails.
//   - serve.go starts the server and stops it. It opens the ports (listen.go) and the store (open.go), runs the
//     scripts of --init (init.go) and tells that clients are served (startup.go).
//   - memory.go divides the memory. http.go serves health checks, metrics and profiles over HTTP.
//
// An Engine replaces the data folder. cqld-cluster brings one that keeps the data on other machines: shared.go makes
// the server a node of a cluster, engine_calls.go measures the calls of the engine, reach.go watches whether it
// answers.
//
// The other commands are thin: client.go (exec, ping, nodes), shell.go, diagram.go, traffic.go (proxy, replay),
// transfer.go (export, import), snapshot.go (snapshot, restore) and verify.go read their flags and call packages below
// protocol/client, server or store. help.go prints the help of all of them.
package command
