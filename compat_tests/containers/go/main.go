// Command containers starts the image named by IMAGE with Testcontainers' module for Cassandra and an init script, and
// uses it through gocql.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/gocql/gocql"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/cassandra"
)

func main() {
	if err := run(context.Background(), os.Getenv("IMAGE"), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// run starts image with the statements of the file script, and writes and reads a row.
func run(ctx context.Context, image, script string) (err error) {
	container, err := cassandra.Run(ctx, image, cassandra.WithInitScripts(script))
	defer func() {
		if ended := testcontainers.TerminateContainer(container); err == nil {
			err = ended
		}
	}()
	if err != nil {
		return err
	}
	addr, err := container.ConnectionHost(ctx)
	if err != nil {
		return err
	}
	cluster := gocql.NewCluster(addr)
	cluster.Keyspace = "shop"
	session, err := cluster.CreateSession()
	if err != nil {
		return err
	}
	defer session.Close()
	if err := session.Query("INSERT INTO orders (id, what) VALUES (1, 'tea')").Exec(); err != nil {
		return err
	}
	var what string
	if err := session.Query("SELECT what FROM orders WHERE id = 1").Scan(&what); err != nil {
		return err
	}
	if what != "tea" {
		return fmt.Errorf("the row has %q", what)
	}
	fmt.Println("go: ok")
	return nil
}
