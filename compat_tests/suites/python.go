package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// pythonDriverVersion is the driver from PyPI that is tested; its tests are only in its repository.
const pythonDriverVersion = "3.30.1"

// pythonDriver is the driver's integration tests against a node that runs already. Left out are files in which every
// test wants a node configured for it, or several.
var pythonDriver = pythonSuite("python-driver", "standard", func(file string) bool {
	return !slices.Contains([]string{
		pythonLoginTests, "test_authentication_misconfiguration.py", // a node with passwords, and one of several without
		"test_custom_cluster.py", "test_single_interface.py", // nodes on other ports
		"test_dse.py", // another product
	}, file)
})

// pythonMapper is the integration tests of cqlengine, the object mapper inside the driver.
var pythonMapper = pythonSuite("python-cqlengine", "cqlengine", func(string) bool { return true })

// pythonLogins is the driver's integration tests of logins.
var pythonLogins = func() suite {
	s := pythonSuite("python-logins", "standard", func(file string) bool { return file == pythonLoginTests })
	s.logins = true
	return s
}()

const pythonLoginTests = "test_authentication.py"

// unsteadyPython are tests that end one way or the other on the same server.
var unsteadyPython = []string{
	"test_connect_timeout",                  // compares two clocks to a tenth of a second
	"test_no_connection_refused_on_timeout", // wants a Cassandra that is overloaded
	"test_row_error_message",                // breaks the connection of tests behind it
}

// pythonSuite is the files that are wanted of a folder of the driver's integration tests. All of them dial the usual
// port.
func pythonSuite(name, part string, wanted func(file string) bool) suite {
	s := suite{name: name, version: pythonDriverVersion, protocol: "v5", folder: "PYTHON_DRIVER_SRC"}
	s.run = func(ctx context.Context, e *environment) ([]outcome, error) {
		python, err := pythonPackages(ctx, e, "cassandra-driver=="+pythonDriverVersion, "pytest==9.0.2", "pytest-timeout==2.4.0",
			"packaging", "pytz", "futurist", "pure-sasl", "scales", "cryptography")
		if err != nil {
			return nil, err
		}
		plugins, err := filepath.Abs("compat_tests/suites/python")
		if err != nil {
			return nil, err
		}
		source, err := pythonTests(e)
		if err != nil {
			return nil, err
		}
		paths, err := testFiles(source, "tests/integration/"+part, wanted)
		if err != nil {
			return nil, err
		}
		return pytests{
			python: python,
			folder: source,
			args: []string{
				"-p", "external_node", "-o", "log_level=CRITICAL", fmt.Sprintf("--timeout=%.0f", testLimit.Seconds()),
				"-k", "not (" + strings.Join(unsteadyPython, " or ") + ")",
			},
			env: []string{
				"PYTHONPATH=" + plugins, "PYTHONDONTWRITEBYTECODE=1", "USE_CASS_EXTERNAL=1", "CLUSTER_IP=" + e.addr,
				"CASSANDRA_VERSION=5.0.8", "PROTOCOL_VERSION=" + s.protocol[1:],
			},
			prefix: "tests.integration." + part + ".",
		}.run(ctx, e, paths)
	}
	return onUsualPort(s)
}

// pythonTests copies the driver's tests: they write beside themselves, and away from the driver's source they import
// the installed one.
func pythonTests(e *environment) (source string, err error) {
	source = filepath.Join(e.work, "source")
	if err := os.RemoveAll(source); err != nil {
		return "", err
	}
	if err := copyFolder(filepath.Join(source, "tests"), filepath.Join(e.folder, "tests")); err != nil {
		return "", err
	}
	return source, oneReplica(filepath.Join(source, "tests", "integration", "__init__.py"))
}

// replicas is what keyspaces that the tests share say of replication: a number, or a place for one.
var replicas = regexp.MustCompile(`'replication_factor': '[^']+'`)

// oneReplica gives those keyspaces as many replicas as there are nodes: with more, QUORUM and ALL are refused.
func oneReplica(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, replicas.ReplaceAll(content, []byte("'replication_factor': '1'")), 0o644)
}

// testFiles finds the wanted files of tests in and below a folder, relative to root.
func testFiles(root, folder string, wanted func(file string) bool) ([]string, error) {
	var paths []string
	for _, pattern := range []string{"test_*.py", "*/test_*.py"} {
		found, err := filepath.Glob(filepath.Join(root, folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			if wanted(filepath.Base(path)) {
				paths = append(paths, path[len(root)+1:])
			}
		}
	}
	return paths, nil
}
