package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
)

// cqlshTests is what Apache Cassandra's repository has of tests for cqlsh. They run the cqlsh beside them, on the
// driver from PyPI. Of the files that are left out only test_unicode.py needs a server: it reads the terminal in
// pieces, and fails when they cut a letter in two.
var cqlshTests = suite{
	name: "cqlsh", version: "6.2.0", protocol: "v5", folder: "CASSANDRA_SRC",
	run: func(ctx context.Context, e *environment) ([]outcome, error) {
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
		// Its build writes which Cassandra it was made for; it warns of any other, which the tests do not expect.
		madeFor := filepath.Join(source, "pylib", "cqlshlib", "serverversion.py")
		if err := os.WriteFile(madeFor, []byte("version = '5.0.8'\n"), 0o644); err != nil {
			return nil, err
		}
		return pytests{
			python: python,
			folder: filepath.Join(source, "pylib"),
			args:   []string{"-o", "python_functions=test_*"}, // not testrun_cqlsh, which the tests call
			env: []string{
				"CQL_TEST_HOST=" + host, "CQL_TEST_PORT=" + port, "CQLSH_NO_BUNDLED=1", "PYTHONPATH=" + filepath.Join(source, "pylib"),
				"HOME=" + e.work, "TERM=xterm", "LC_CTYPE=C.utf8",
			},
			prefix: "cqlshlib.test.",
		}.run(ctx, e, []string{
			"cqlshlib/test/test_cqlsh_completion.py", "cqlshlib/test/test_cqlsh_output.py",
		})
	},
}
