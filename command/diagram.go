package command

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/protocol/client/diagram"
	"github.com/cqld/cqld/protocol/client/model"
)

// diagramCommand is cqld diagram: it draws a schema.
func diagramCommand(c *console) *cobra.Command {
	var out, keyspaces string
	var logical, physical, traffic bool
	cmd := &cobra.Command{
		Use: "diagram [ADDR|FILE]", GroupID: groupClient, Short: "Draw a schema and its access patterns",
		Long: "Draw the tables of the server at ADDR, cqld, Cassandra or another one, or those that a FILE of statements (.cql or " +
			".cql.gz) creates, as a Chebotko diagram. Arrows are access patterns: lines such as Q1: find hotels near a point of " +
			"interest, in the comments of tables or in comments of the FILE.",
		Example: "diagram schema.cql --out schema.svg\ndiagram 127.0.0.1:9042 --keyspace shop,stock --logical --out shop.md\n" +
			"diagram --traffic",
	}
	topic(cmd.Flags(), "Diagram", func(f *pflag.FlagSet) {
		f.StringVarP(&out, "out", "o", "-", "write to `FILE`: a picture (.svg), text (.txt) or Markdown (.md); - prints text")
		f.StringVarP(&keyspaces, "keyspace", "k", "", "draw the keyspaces with these `NAMES`, with commas between them; by default "+
			"all that are not the server's")
		f.BoolVar(&logical, "logical", false, "draw names of tables and columns only")
		f.BoolVar(&physical, "physical", false, "draw types and keyspaces too (the default)")
		f.BoolVar(&traffic, "traffic", false, "add arrows for the queries that a server with --test-controls has recorded")
	})
	login := loginFlags(cmd.Flags(), answerTime)
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		draw := map[string]func(io.Writer, *diagram.Diagram) error{
			".txt": diagram.Text, ".svg": diagram.SVG, ".md": diagram.Markdown,
		}[filepath.Ext(out)]
		if out == "-" {
			draw = diagram.Text
		}
		from := optional(args)
		info, err := os.Stat(from)
		fromFile := cqlfiles.IsScript(from) || err == nil && info.IsDir()
		switch {
		case draw == nil:
			return badFlag("out", out, "want a name that ends in .svg, .txt or .md, or -")
		case logical && physical:
			return usagef("diagram takes either --logical or --physical")
		case traffic && fromFile:
			return usagef("--traffic needs a server instead of a file")
		}
		var chosen []string
		for name := range strings.SplitSeq(keyspaces, ",") {
			if name = strings.TrimSpace(name); name != "" {
				chosen = append(chosen, name)
			}
		}
		o := diagram.Options{Logical: logical}
		var d *diagram.Diagram
		if fromFile {
			d, err = diagramOfFile(ctx, from, chosen, o)
		} else {
			d, err = diagramOfServer(ctx, c, from, login, chosen, traffic, o)
		}
		if err != nil {
			return err
		}
		if d.Tables() == 0 {
			return errors.New("there is no table to draw")
		}
		if out == "-" {
			return draw(c.stdout, d)
		}
		file, err := os.Create(out)
		if err != nil {
			return pathError("write", out, err)
		}
		return errors.Join(draw(file, d), file.Close())
	})
}

// diagramOfServer reads the diagram of a running server.
func diagramOfServer(
	ctx context.Context, c *console, addr string, l *login, keyspaces []string, traffic bool, o diagram.Options,
) (*diagram.Diagram, error) {
	if err := l.complete(c, addr); err != nil {
		return nil, err
	}
	query, conn, err := l.query(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return diagram.Read(ctx, query, keyspaces, nil, traffic, o)
}

// diagramOfFile runs the statements of a file, or of all in a folder, on a server in memory and reads its diagram.
func diagramOfFile(ctx context.Context, path string, keyspaces []string, o diagram.Options) (*diagram.Diagram, error) {
	scripts, err := readScripts(path)
	if err != nil {
		return nil, err
	}
	s, err := startScratch(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.runScripts(ctx, scripts); err != nil {
		return nil, err
	}
	query := model.QueryOn(s.conn)
	if unnamed, err := model.Tables(ctx, query, scratchKeyspace, ""); err != nil {
		return nil, err
	} else if len(unnamed) == 0 { // each statement names its keyspace
		if _, err := query(ctx, "DROP KEYSPACE "+scratchKeyspace); err != nil {
			return nil, err
		}
	}
	named := func(tables []*model.Table) (all []diagram.Pattern) {
		for _, script := range scripts {
			all = append(all, diagram.InFile(script.Text, tables)...)
		}
		return all
	}
	return diagram.Read(ctx, query, keyspaces, named, false, o)
}
