package script

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cqld/cqld/protocol/client"
)

// CassandraRelease is the release of the Cassandra at an address, as far as scripts may be recorded from it.
// Everything else is an error, also a server that only says that it is Cassandra: the threads of Cassandra's stages
// are in a table that nobody else fills.
func CassandraRelease(ctx context.Context, addr string) (string, error) {
	conn, err := client.Dial(ctx, addr, superuser(0))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	local, err := conn.Query(ctx, "SELECT release_version FROM system.local", nil, nil)
	if err != nil {
		return "", err
	}
	if len(local.Rows) != 1 || !strings.HasPrefix(string(local.Rows[0][0]), "5.0.") {
		return "", fmt.Errorf("%s is not Cassandra 5.0", addr)
	}
	stages, err := conn.Query(ctx,
		"SELECT name FROM system_views.thread_pools WHERE name = 'MutationStage'", nil, nil)
	if err != nil || len(stages.Rows) != 1 {
		return "", errors.Join(fmt.Errorf("%s only says that it is Cassandra", addr), err)
	}
	return string(local.Rows[0][0]), nil
}
