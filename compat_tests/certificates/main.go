// Command certificates makes the certificates that drivers and servers need to speak TLS with each other in a test.
//
//	go run ./compat_tests/certificates FOLDER
//
// It writes ca.crt; server.crt and server.key, for 127.0.0.1 and localhost; client.crt and client.key, with the
// identity spiffe://cqld/app. They are valid for a day.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cqld/cqld/internal/certificates"
)

// clientIdentity is the identity in the client's certificate.
const clientIdentity = "spiffe://cqld/app"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: certificates FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "certificates:", err)
		os.Exit(1)
	}
}

// write makes the certificates in a folder.
func write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	a, err := certificates.NewAuthority("cqld test")
	if err != nil {
		return err
	}
	server, err := a.Server("127.0.0.1", "localhost")
	if err != nil {
		return err
	}
	client, err := a.Client("app", clientIdentity)
	if err != nil {
		return err
	}
	for name, pair := range map[string]certificates.Pair{"server": server, "client": client} {
		if err := pair.Write(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "ca.crt"), a.PEM(), 0o600)
}
