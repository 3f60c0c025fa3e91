package shell

import (
	"context"
	"crypto/tls"
	"errors"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// Login is where and as whom to connect.
type Login struct {
	Addr               string
	Username, Password string
	TLS                *tls.Config   // nil: the connection is not encrypted
	Timeout            time.Duration // for the connection
}

// dial connects.
func (l *Login) dial(ctx context.Context) (*client.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	return client.Dial(ctx, l.Addr, client.Options{Username: l.Username, Password: l.Password, TLS: l.TLS})
}

// ErrNotCqld says that a server answers CQL and has no streams.
var ErrNotCqld = errors.New("the server is no cqld, or one that is too old")

// Stream calls fn with the elements of a stream of a cqld: key is the name that the server knows streams by, and name
// that of the stream.
func Stream(ctx context.Context, l *Login, key, name string, fn func(element []byte) error) error {
	conn, err := l.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	o := client.QueryOptions{Payload: []protocol.PayloadEntry{{Key: key, Value: []byte(name)}}}
	for {
		r, err := conn.Query(ctx, "SELECT key FROM system.local", nil, &o)
		if err != nil {
			return err
		}
		if len(r.Columns) != 1 || r.Columns[0].Name != key {
			return ErrNotCqld
		}
		for _, row := range r.Rows {
			if err := fn(row[0]); err != nil {
				return err
			}
		}
		if r.PagingState == nil {
			return nil
		}
		o.Payload[0].Value = []byte(name + "+") // the server goes on
	}
}
