// Package auth is the model of permissions: the resources on which they are granted, the needs of statements, and the
// users who log in. It does no I/O: package auth/roles keeps roles and permissions in the tables of system_auth.
//
// A Need is a permission on a resource. A User has it if one of its roles was granted the permission on the resource
// or on one of the resources above it:
//
//	data/k/t             a table     below data/k/* (all tables of a keyspace), data/k and data
//	roles/r              a role      below roles
//	functions/k/f[...]   a function  below functions/k and functions
//	mbean/n              a bean      below mbean
//
// These are the names that system_auth has. In texts a resource is <table k.t>.
//
// A User never changes. When a role or a permission does, package auth/roles makes another one. A nil User is a client
// of a server without logins, who may do everything.
package auth
