package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/protocol/client"
)

// superuser logs in where a server asks for it.
var superuser = client.Options{Username: "cassandra", Password: "cassandra"}

// keyspaces names those on a server.
func keyspaces(ctx context.Context, addr string) ([]string, error) {
	conn, err := client.Dial(ctx, addr, superuser)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	answer, err := conn.Query(ctx, "SELECT keyspace_name FROM system_schema.keyspaces", nil, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, row := range answer.Rows {
		names = append(names, string(row[0]))
	}
	return names, nil
}

// dropOthers drops the keyspaces that are not among the given ones: what a suite has left behind would show in
// the next, where cqlsh completes names.
func dropOthers(ctx context.Context, addr string, known []string) error {
	names, err := keyspaces(ctx, addr)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			err = errors.Join(err, dropKeyspace(ctx, addr, `"`+strings.ReplaceAll(name, `"`, `""`)+`"`))
		}
	}
	return err
}

// dropKeyspace drops a keyspace, named as in CQL, if it is there.
func dropKeyspace(ctx context.Context, addr, keyspace string) error {
	conn, err := client.Dial(ctx, addr, superuser)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Query(ctx, "DROP KEYSPACE IF EXISTS "+keyspace, nil, nil); err != nil {
		return fmt.Errorf("drop keyspace %s: %w", keyspace, err)
	}
	return nil
}
