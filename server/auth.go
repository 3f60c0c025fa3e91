package server

import "github.com/cqld/cqld/protocol"

// authResponse serves AUTH_RESPONSE. There are no logins: a client that sends a password unasked gets success.
func authResponse(r *request) { r.answer(&protocol.AuthSuccess{}) }
