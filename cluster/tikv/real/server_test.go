package real

import (
	"context"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cluster/tikv"
	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/protocol/client"
)

// build builds the program, and skips the test where Go is missing, as in the container of deploy/try.
func build(t *testing.T) (binary string) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("cqld-cluster cannot be built here: ", err)
	}
	binary = filepath.Join(t.TempDir(), "cqld-cluster")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/cqld-cluster").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// reach are the flags that say where a cluster is and which data in it are meant.
func reach(address tikv.Address, prefix string) []string {
	args := []string{"--pd", strings.Join(address.PD, ","), "--prefix", prefix, "--keep-versions"}
	for flag, file := range map[string]string{
		"--cluster-ca": address.Authorities, "--cluster-cert": address.Certificate, "--cluster-key": address.Key,
	} {
		if file != "" {
			args = append(args, flag, file)
		}
	}
	return args
}

// serve starts a server, which ends with the test.
func serve(t *testing.T, binary string, address tikv.Address, prefix string) *process.Process {
	t.Helper()
	p, err := process.Start(binary, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log-format", "json",
	}, reach(address, prefix)...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

// get asks a server over HTTP.
func get(t *testing.T, p *process.Process, path string) (code int, text string) {
	t.Helper()
	r, err := http.Get("http://" + p.HTTP + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// ask runs a statement and returns the first cell of its result, if it has one.
func ask(t *testing.T, p *process.Process, text string) (cell string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := client.Dial(ctx, p.Addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	result, err := conn.Query(ctx, text, nil, nil)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return ""
	}
	if len(result.Rows) == 0 {
		return ""
	}
	return result.Columns[0].Type.Format(result.Rows[0][0])
}
