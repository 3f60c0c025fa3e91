package shell

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// Login is an address and credentials.
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

// ErrNotCqld means that a server speaks CQL but has no streams.
var ErrNotCqld = errors.New("the server is no cqld, or one that is too old")

// Stream calls fn with the elements of a stream of a cqld: key is the payload key of streams, name the name of the
// stream.
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

// Ping makes a CQL handshake with a server and prints its protocol version. A server that asks for a password counts
// as alive. If config is not nil, it connects through TLS.
func Ping(ctx context.Context, addr string, config *tls.Config, out io.Writer) error {
	conn, err := client.Dial(ctx, addr, client.Options{TLS: config})
	if errors.Is(err, client.ErrPasswordWanted) {
		fmt.Fprintf(out, "%s answers and asks for a password\n", addr)
		return nil
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Supported(ctx); err != nil {
		return fmt.Errorf("ping %s: %w", addr, err)
	}
	fmt.Fprintf(out, "%s answers, protocol v%d\n", addr, conn.Version())
	return nil
}

// Nodes prints the nodes of a cluster as seen by the server at an address, one per line: state, address, datacenter,
// rack, tokens and schema version. It ends after l.Timeout.
func Nodes(ctx context.Context, l *Login, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	conn, err := l.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	tokens := map[string]int{} // by host id
	for _, table := range []string{"local", "peers_v2"} {
		rows, err := texts(ctx, conn, "SELECT host_id, tokens FROM system."+table)
		if err != nil {
			return err
		}
		for _, row := range rows {
			tokens[row[0]] = strings.Count(row[1], "'") / 2
		}
	}
	rows, err := texts(ctx, conn, "SELECT rpc_ready, native_address_and_port, dc, rack, release_version, "+
		"\"schema\", host_id FROM system_views.gossip_info")
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b []string) int { return slices.Compare(a[1:], b[1:]) })
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STATE\tADDRESS\tDATACENTER\tRACK\tTOKENS\tRELEASE\tSCHEMA\tHOST ID")
	for _, row := range rows {
		state := "down"
		if row[0] == "true" {
			state = "up"
		}
		id := row[6]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", state, row[1], row[2], row[3], tokens[id], row[4], row[5],
			id)
	}
	return w.Flush()
}

// texts runs a query and returns its cells as text, without the quotes of texts.
func texts(ctx context.Context, conn *client.Conn, query string) (rows [][]string, err error) {
	result, err := conn.Query(ctx, query, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	for _, cells := range result.Rows {
		row := make([]string, len(cells))
		for i, cell := range cells {
			if cell != nil {
				row[i] = plainStyle.cell(result.Columns[i].Type, cell)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}
