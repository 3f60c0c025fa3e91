package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cdrsTokio is the crate from crates.io, which includes its tests. They dial the usual port, and run one by one because
// they share tables. The library's unit tests need no server and do not run.
var cdrsTokio = onUsualPort(suite{
	name: "cdrs-tokio", version: "8.1.7", protocol: "v4, v5",
	run: func(ctx context.Context, e *environment) ([]outcome, error) {
		folder, err := crate(ctx, e, "cdrs-tokio", "8.1.7")
		if err != nil {
			return nil, err
		}
		return cargoTests{
			build: []string{"--tests", "--features=e2e-tests,derive"},
			want:  func(test string) bool { return !strings.HasPrefix(test, "cdrs_tokio::") },
			jobs:  1,
			limit: 5 * time.Second, // a test that fails to connect waits forever
		}.run(ctx, e, folder)
	},
})

// scyllaRust is Scylla's driver, from a checkout because its tests need a crate that is not on crates.io. The flag
// cassandra_tests leaves out tests of Scylla's extensions. The tests start proxies on the usual port, and expect the
// server there too.
var scyllaRust = onUsualPort(suite{
	name: "scylla-rust", version: "1.8.0", protocol: "v4", folder: "SCYLLA_RUST_SRC", strict: true,
	run: func(ctx context.Context, e *environment) ([]outcome, error) {
		source := filepath.Join(e.work, "source")
		if _, err := os.Stat(source); err != nil { // the copy is kept, with cargo's lock file
			if err := copyFolder(source, e.folder); err != nil {
				return nil, err
			}
		}
		addr := net.JoinHostPort(e.addr, "9042")
		return cargoTests{
			build: []string{"--package=scylla", "--lib", "--test=integration", "--all-features"},
			flags: "--cfg scylla_unstable --cfg cassandra_tests",
			env:   []string{"SCYLLA_URI=" + addr, "SCYLLA_URI2=" + addr, "SCYLLA_URI3=" + addr},
			want:  wantScylla,
			jobs:  4,
			limit: testLimit,
		}.run(ctx, e, source)
	},
})

// scyllaModules are the modules of Scylla's library whose tests need a server; scyllaOwnCluster is the module of its
// integration tests that start their own nodes.
var (
	scyllaModules    = []string{"network::connection::", "network::connection_pool::", "client::caching_session::"}
	scyllaOwnCluster = "integration::ccm::"
)

func wantScylla(test string) bool {
	if inLibrary, ok := strings.CutPrefix(test, "scylla::"); ok {
		return slices.ContainsFunc(scyllaModules, func(module string) bool { return strings.HasPrefix(inLibrary, module) })
	}
	return !strings.HasPrefix(test, scyllaOwnCluster)
}

// crate copies a crate from crates.io into the work folder, where it can be built.
func crate(ctx context.Context, e *environment, name, version string) (string, error) {
	folder := filepath.Join(e.work, name+"-"+version)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	user := filepath.Join(e.work, "fetch") // a crate that depends on it, because cargo fetches only dependencies
	if err := os.RemoveAll(user); err != nil {
		return "", err
	}
	var metadata []byte
	for _, args := range [][]string{
		{"init", "--quiet", "--lib", "--vcs=none", user},
		{"add", "--quiet", "--manifest-path=" + user + "/Cargo.toml", name + "@=" + version},
		{"metadata", "--quiet", "--format-version=1", "--manifest-path=" + user + "/Cargo.toml"},
	} {
		var err error
		if metadata, err = exec.CommandContext(ctx, "cargo", args...).Output(); err != nil {
			return "", fmt.Errorf("cargo %s: %w", strings.Join(args, " "), err)
		}
	}
	var resolved struct {
		Packages []struct {
			Name         string
			ManifestPath string `json:"manifest_path"`
		}
	}
	if err := json.Unmarshal(metadata, &resolved); err != nil {
		return "", err
	}
	for _, p := range resolved.Packages {
		if p.Name == name {
			return folder, copyFolder(folder, filepath.Dir(p.ManifestPath))
		}
	}
	return "", fmt.Errorf("cargo resolved no %s", name)
}
