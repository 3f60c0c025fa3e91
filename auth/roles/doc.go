// Package roles keeps roles, permissions and identities in the tables of system_auth, checks passwords, and runs the
// statements about them: CREATE ROLE, GRANT, LIST PERMISSIONS and the others.
//
//	keeper.go       Keeper: roles and users as of the newest version
//	tables.go       rows of system_auth, read and written
//	login.go        passwords
//	statement.go    the three phases of a statement
//	role.go, membership.go, permission.go, list.go    the statements
//
// A statement goes through the phases of Cassandra: authorize checks the permissions of the user, validate looks for
// mistakes, and execute makes the change. PREPARE goes through validate alone.
//
// Every change makes a new version. An auth.User belongs to a version: a session asks the Keeper for another one when
// the version has changed.
package roles
