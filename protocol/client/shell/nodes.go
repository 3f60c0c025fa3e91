package shell

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cqld/cqld/protocol/client"
)

// Nodes prints the nodes of a cluster as the server at an address sees them, one a line: whether they are up, their
// addresses, places, tokens and definitions. It takes no longer than l.Timeout.
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", state, row[1], row[2], row[3], tokens[id], row[4], row[5], id)
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
				row[i] = formatCell(result.Columns[i].Type, cell)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}
