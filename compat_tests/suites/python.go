package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// pythonDriverVersion is the driver from PyPI that is tested; its tests are only in its repository.
const pythonDriverVersion = "3.30.1"

// pythonDriver runs the driver's integration tests against a running node. It leaves out files in which every test
// needs a specially configured node, or several nodes.
var pythonDriver = pythonSuite("python-driver", "standard", func(file string) bool {
	return !slices.Contains([]string{
		pythonLoginTests, "test_authentication_misconfiguration.py", // a node with passwords, and several nodes of which one has none
		"test_custom_cluster.py", "test_single_interface.py", // nodes on other ports
		"test_dse.py", // another product
	}, file)
})

// pythonMapper runs the integration tests of cqlengine, the object mapper inside the driver.
var pythonMapper = pythonSuite("python-cqlengine", "cqlengine", func(string) bool { return true })

// pythonLogins runs the driver's integration tests of logins.
var pythonLogins = func() suite {
	s := pythonSuite("python-logins", "standard", func(file string) bool { return file == pythonLoginTests })
	s.logins = true
	return s
}()

const pythonLoginTests = "test_authentication.py"

// unsteadyPython lists flaky tests.
var unsteadyPython = []string{
	"test_connect_timeout",                  // compares two clocks to a tenth of a second
	"test_no_connection_refused_on_timeout", // needs an overloaded Cassandra
	"test_row_error_message",                // breaks the connection of later tests
}

// pythonSuite runs the wanted files of a folder of the driver's integration tests. All of them dial the usual port.
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

// pythonTests copies the driver's tests: they write files beside themselves, and outside of the driver's source they
// import the installed driver.
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

// replicas matches the replication factor of the tests' shared keyspaces: a number, or a placeholder for one.
var replicas = regexp.MustCompile(`'replication_factor': '[^']+'`)

// oneReplica sets it to the number of nodes: with more replicas, QUORUM and ALL are refused.
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

// cqlshTests runs the tests for cqlsh in Apache Cassandra's repository. They run the cqlsh of that repository with the
// driver from PyPI. Of the skipped files only test_unicode.py needs a server: it reads the terminal in chunks, and
// fails when a chunk ends within a character.
var cqlshTests = cqlshSuite("cqlsh", nil, "test_cqlsh_completion.py", "test_cqlsh_output.py")

// shellTests runs the same tests with cqld's shell instead of cqlsh. The plugin shell_terminal reads the terminal in
// whole characters, and finds completions in the lines that the shell redraws.
var shellTests = cqlshSuite("cqlsh-shell", func(e *environment, source string) error {
	cqlsh := filepath.Join(source, "bin", "cqlsh")
	return errors.Join(os.Remove(cqlsh), os.Symlink(e.cqld, cqlsh))
}, "test_cqlsh_completion.py", "test_cqlsh_output.py", "test_unicode.py")

// cqlshSuite runs files of cqlsh's tests. replace puts another program in place of the cqlsh in the copied sources; nil
// leaves it.
func cqlshSuite(name string, replace func(e *environment, source string) error, files ...string) suite {
	s := suite{name: name, version: "6.2.0", protocol: "v5", folder: "CASSANDRA_SRC"}
	s.run = func(ctx context.Context, e *environment) ([]outcome, error) {
		python, err := pythonPackages(ctx, e, "cassandra-driver=="+pythonDriverVersion, "pytest==9.0.2", "wcwidth")
		if err != nil {
			return nil, err
		}
		host, port, err := net.SplitHostPort(e.addr)
		if err != nil {
			return nil, err
		}
		source := filepath.Join(e.work, "source")
		if err := os.RemoveAll(source); err != nil {
			return nil, err
		}
		for _, part := range []string{"bin", "conf", "pylib"} {
			if err := copyFolder(filepath.Join(source, part), filepath.Join(e.folder, part)); err != nil {
				return nil, err
			}
		}
		// The build of cqlsh sets the version of Cassandra it is for. It warns of other versions, and the tests expect
		// no warning.
		madeFor := filepath.Join(source, "pylib", "cqlshlib", "serverversion.py")
		if err := os.WriteFile(madeFor, []byte("version = '5.0.8'\n"), 0o644); err != nil {
			return nil, err
		}
		args, paths := []string{"-o", "python_functions=test_*"}, filepath.Join(source, "pylib") // not testrun_cqlsh, which the tests call
		if replace != nil {
			plugins, err := filepath.Abs("compat_tests/suites/python")
			if err = errors.Join(err, replace(e, source)); err != nil {
				return nil, err
			}
			args, paths = append(args, "-p", "shell_terminal"), paths+string(os.PathListSeparator)+plugins
		}
		run := pytests{
			python: python,
			folder: filepath.Join(source, "pylib"),
			args:   args,
			env: []string{
				"CQL_TEST_HOST=" + host, "CQL_TEST_PORT=" + port, "CQLSH_NO_BUNDLED=1", "PYTHONPATH=" + paths,
				"PYTHONDONTWRITEBYTECODE=1", "HOME=" + e.work, "TERM=xterm", "LC_CTYPE=C.utf8",
			},
			prefix: "cqlshlib.test.",
		}
		var tests []string
		for _, file := range files {
			tests = append(tests, "cqlshlib/test/"+file)
		}
		return run.run(ctx, e, tests)
	}
	return s
}
