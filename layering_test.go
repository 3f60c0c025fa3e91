package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/cqld/cqld"

// arrows lists the packages of the repository that each package may import. main is "."; a package that is not listed
// may import none. Tests may import the same packages, and cqltest.
var arrows = map[string][]string{
	".": {"command"},
	"command": {
		"internal/panics", "server", "server/console", "server/control", "server/control/endpoints", "store", "store/cluster", "store/engine", "store/engine/disk", "store/engine/files",
		"store/engine/memory", "store/snapshot", "protocol", "protocol/client", "protocol/client/cqlfiles", "protocol/client/diagram", "protocol/client/shell",
		"protocol/client/shell/prompt", "protocol/client/traffic", "protocol/client/transfer", "protocol/client/advise", "protocol/client/advise/prove", "protocol/client/model",
		"planner/guardrail", "cql", "cql/java", "cql/parser", "cql/schema", "internal/suggest",
	},
	"server/console": {
		"server", "server/control", "store", "protocol", "protocol/client", "protocol/client/advise", "protocol/client/diagram",
		"protocol/client/model", "cql", "cql/parser", "cql/quote", "cql/schema", "cql/types", "cql/cqlerr",
	},
	"server/control":           {"internal/suggest", "server", "store", "store/system", "protocol", "cql/schema", "cql/secret", "cql/types", "cql/cqlerr"},
	"server/control/endpoints": {"server/control", "cql/schema", "cql/types", "cql/types/json", "cql/cqlerr"},
	"cqltest": {
		"internal/panics", "server", "server/control", "internal/certificates", "internal/inside", "internal/suggest", "planner/guardrail", "store", "store/engine",
		"store/engine/memory", "protocol", "protocol/client", "protocol/client/advise", "protocol/client/cqlfiles", "protocol/client/model", "cql/quote",
		"cql/schema", "cql/types", "cql/types/json",
		"cql/cqlerr",
	},
	"cqltest/functions":   {"cqltest", "cql/java"},
	"cqltest/gocqltest":   {"cqltest"}, // a separate module, like all that needs a driver
	"cqltest/gocqlv2test": {"cqltest"}, // likewise
	"internal/panics":     {"internal/invariants"},
	"internal/inside":     {"server", "server/control", "store", "store/engine"},
	"internal/nodes":      {"server", "store", "store/cluster", "store/engine", "store/engine/memory", "internal/tso"},
	"compat_tests": {
		"compat_tests/differences", "compat_tests/script", "compat_tests/process", "protocol", "protocol/client", "cql/types", "cql/cqlerr", "cqltest", "cqltest/functions",
		"internal/inside",
	},
	"compat_tests/script": {"protocol", "protocol/client", "cql/types", "cql/cqlerr"},
	"compat_tests/wire":   {"compat_tests/differences", "compat_tests/script", "protocol", "protocol/client", "cql/types", "cqltest", "cqltest/functions"},
	"compat_tests/drivers": { // a separate module, with its subfolders
		"protocol", "protocol/client", "cql/types", "cql/cqlerr", "cqltest", "cqltest/gocqltest", "cqltest/gocqlv2test",
	},
	"compat_tests/certificates":  {"internal/certificates"},
	"compat_tests/drivers/bench": {"compat_tests/process", "protocol", "protocol/client", "cql/types", "cqltest"},
	"compat_tests/console":       {"compat_tests/process", "protocol/client"}, // another separate module
	"compat_tests/crash":         {"compat_tests/process", "protocol/client"},
	"compat_tests/soak":          {"compat_tests/process", "protocol/client", "cql/types", "cql/cqlerr"},
	"compat_tests/drivers/histories": {
		"compat_tests/process", "protocol/client", "cql/types", "cql/cqlerr", "cqltest",
	},
	"compat_tests/mutations": {
		"internal/certificates", "compat_tests/process", "compat_tests/script", "protocol", "protocol/client",
		"cql/types", "cql/cqlerr",
	},
	"compat_tests/hostile":  {"internal/certificates", "compat_tests/process", "protocol", "protocol/client", "cql/types", "cql/cqlerr"},
	"compat_tests/oracle":   {"protocol/client"},
	"compat_tests/tamper":   {"protocol", "cql/types", "cql/cqlerr"},
	"compat_tests/suites":   {"compat_tests/process", "compat_tests/script", "protocol/client"},
	"compat_tests/recorded": {"compat_tests/script", "protocol", "protocol/client", "cql/types", "cql/cqlerr"},
	"compat_tests/differ":   {"compat_tests/process", "compat_tests/script", "protocol", "protocol/client", "cql/types", "cql/cqlerr"},
	"compat_tests/schemas":  {"compat_tests/script", "protocol/client", "cql/types", "cql/cqlerr", "cqltest", "cqltest/functions"},
	"compat_tests/transcripts": {
		"compat_tests/script", "protocol", "protocol/client", "cql/types", "cql/cqlerr", "cqltest", "cqltest/functions",
	},
	"server": {
		"internal/panics", "server/observe", "server/statements", "server/trace", "server/wire",
		"auth", "auth/roles", "protocol", "cql", "cql/parser", "cql/schema", "cql/secret", "cql/types", "cql/cqlerr", "planner",
		"planner/define", "planner/guardrail", "planner/exec", "planner/exec/paging", "planner/exec/ring",
		"store", "store/cluster", "store/pace", "store/system",
	},
	"server/observe": {"auth/roles", "planner", "planner/define", "store", "store/system", "cql/schema"},
	"server/statements": {
		"server/observe", "auth", "planner", "planner/define", "planner/exec", "planner/guardrail", "protocol", "store", "store/pace",
		"cql", "cql/parser", "cql/schema", "cql/cqlerr",
	},
	"server/wire":  {"internal/panics", "protocol", "store/pace"},
	"server/trace": {"planner", "planner/exec", "protocol", "store", "cql/schema", "cql/secret", "cql/types"},
	"planner/exec": {
		"internal/panics", "auth", "auth/roles", "planner", "planner/define", "planner/guardrail", "planner/where", "planner/expr",
		"planner/exec/filter", "planner/exec/paging", "planner/exec/ring", "planner/exec/replicas", "planner/exec/condition",
		"planner/exec/restriction", "store", "store/pace", "cql/functions", "cql/schema", "cql/quote", "cql/types", "cql/cqlerr",
	},
	"planner/exec/paging": {"planner/exec/restriction", "cql/schema", "cql/types", "cql/cqlerr"},
	"planner/exec/ring":   {"cql/schema"},
	"planner/exec/condition": {
		"planner", "planner/expr", "planner/exec/filter", "planner/exec/restriction", "cql/schema", "cql/types", "cql/cqlerr",
	},
	"planner/exec/replicas": {"planner/exec/ring", "cql/schema", "cql/cqlerr"},
	"planner/exec/filter": {
		"planner/where", "planner/expr", "planner/exec/restriction", "store", "cql/analysis", "cql/schema", "cql/types",
		"cql/cqlerr",
	},
	"planner/exec/restriction": {"planner/where", "planner/expr", "store", "cql/schema", "cql/types", "cql/cqlerr"},
	"planner/define":           {"auth", "planner/guardrail", "planner/where", "planner/scope", "planner/expr", "cql", "cql/schema", "cql/secret", "cql/quote", "cql/types", "cql/functions", "cql/cqlerr"},
	"planner":                  {"auth", "planner/define", "planner/guardrail", "planner/where", "planner/scope", "planner/expr", "cql", "cql/schema", "cql/quote", "cql/types", "cql/functions", "cql/cqlerr"},
	"planner/guardrail":        {"cql/schema", "cql/cqlerr"},
	"planner/where":            {"planner/scope", "planner/expr", "cql", "cql/schema", "cql/quote", "cql/types", "cql/functions", "cql/cqlerr"},
	"planner/scope":            {"planner/expr", "cql/parser", "cql", "cql/schema", "cql/quote", "cql/types", "cql/functions", "cql/cqlerr"},
	"planner/expr":             {"cql", "cql/schema", "cql/quote", "cql/types", "cql/types/json", "cql/functions", "cql/cqlerr"},
	"auth":                     {"cql", "cql/schema", "cql/types", "cql/cqlerr"},
	"auth/roles":               {"internal/panics", "auth", "cql", "cql/schema", "cql/types", "cql/cqlerr", "store"},
	"store/system":             {"store", "cql/schema", "cql/types", "cql/cqlerr"},
	"store": {
		"internal/panics", "store/cluster", "store/engine", "store/index", "store/nearest", "store/pace", "store/rows", "store/snapshot", "store/tombstones",
		"store/usage", "internal/invariants", "cql/schema", "cql/types", "cql/cqlerr",
	},
	"store/index":         {"store/engine", "store/nearest", "store/rows", "cql/analysis", "cql/schema", "cql/types"},
	"store/snapshot":      {"store/cluster", "store/engine", "store/rows"},
	"store/tombstones":    {"store/bloom", "store/engine", "store/rows", "store/usage", "cql/schema"},
	"store/cluster":       {"internal/panics", "store/engine", "store/rows"},
	"store/engine":        {"internal/panics"},
	"store/rows":          {"cql/schema", "cql/types"},
	"store/engine/badger": {"internal/panics", "store/engine", "store/engine/files"},
	"store/engine/tree":   {"internal/invariants", "store/engine"},
	"store/engine/disk": {
		"internal/invariants", "internal/panics", "store/engine", "store/engine/badger", "store/engine/disk/commitlog", "store/engine/files",
		"store/engine/memory",
	},
	"store/engine/disk/commitlog": {"internal/invariants", "store/engine", "store/engine/files"},
	"store/engine/memory":         {"internal/invariants", "internal/panics", "store/bloom", "store/engine", "store/engine/tree"},
	"store/engine/enginetest":     {"internal/panics", "store/engine", "store/engine/files"},
	"cluster/tikv":                {"internal/panics", "store/engine"}, // a separate module, as all of cluster
	"cluster/tikv/tikvtest":       {"cluster/safepoint", "internal/tso"},
	"cluster/local":               {"compat_tests/process", "protocol/client"},
	"cluster/crash":               {"cluster/local", "protocol/client"},
	"cluster/bench":               {"cluster/local", "compat_tests/process", "cql/types", "protocol/client", "protocol/client/transfer"},
	"cluster/run":                 {"cluster/local"},
	"cluster/placement":           {"cluster/safepoint", "internal/tso"},
	"cluster/safepoint":           {},
	"cluster/unistore":            {}, // another separate module
	"cluster/cmd/cqld-cluster":    {"cluster/tikv", "command", "store/cluster", "store/engine"},
	"protocol":                    {"cql/types", "cql/cqlerr"},
	"protocol/client":             {"protocol", "cql/types", "cql/cqlerr"},
	"protocol/client/traffic":     {"protocol", "protocol/client", "cql/secret", "cql/types", "cql/cqlerr"},
	"protocol/client/cqlfiles":    {"cql/parser", "cql/secret"},
	"protocol/client/model":       {"protocol/client", "cql", "cql/quote", "cql/types", "cql/cqlerr"},
	"protocol/client/diagram":     {"protocol/client/model"},
	"protocol/client/advise":      {"protocol/client", "protocol/client/cqlfiles", "protocol/client/model", "cql", "cql/parser", "cql/quote", "cql/types", "cql/cqlerr", "internal/suggest"},
	"protocol/client/advise/prove": {
		"protocol/client", "protocol/client/advise", "protocol/client/model", "cql", "cql/parser", "cql/quote", "cql/types", "cql/cqlerr",
	},
	"protocol/client/shell": {
		"protocol", "protocol/client", "protocol/client/cqlfiles", "protocol/client/diagram", "protocol/client/model", "protocol/client/transfer", "cql", "cql/parser", "cql/quote",
		"cql/types", "cql/cqlerr",
	},
	"protocol/client/shell/prompt": {"protocol/client", "protocol/client/shell", "grammar", "cql/parser", "cql/quote", "cql/secret", "cql/types"},
	"protocol/client/transfer":     {"protocol", "protocol/client", "cql", "cql/parser", "cql/quote", "cql/types", "cql/types/json", "cql/cqlerr"},
	"cql":                          {"cql/quote"},
	"cql/secret":                   {},
	"cql/types":                    {"cql/quote", "cql/types/json", "cql/types/javafloat"},
	"cql/types/json":               {"cql/types/javafloat"},
	"cql/analysis":                 {"cql/schema", "cql/types"},
	"cql/parser":                   {"cql", "cql/parser/antlr3", "cql/parser/stream", "grammar", "cql/cqlerr", "cql/secret"},
	"cql/parser/antlr3":            {"cql", "cql/parser/stream", "grammar", "cql/cqlerr", "cql/secret"},
	"cql/parser/stream":            {"cql", "grammar", "cql/cqlerr"},
	"cql/functions":                {"cql/types", "cql/types/javafloat", "cql/types/json", "cql/cqlerr"},
	"cql/java":                     {"cql/schema", "cql/types", "cql/types/javafloat"},
	"cql/schema":                   {"cql/types", "cql/types/javafloat", "cql/quote", "cql/cqlerr"},
}

// testArrows are the packages that a package's tests may import in addition to arrows: the real parts below them.
var testArrows = map[string][]string{
	"cqltest":                        {"cqltest/functions"},
	"command":                        {"cqltest", "internal/inside", "internal/nodes", "internal/certificates", "protocol", "protocol/client", "cql/types"},
	"protocol/client":                {"cqltest"},
	"protocol/client/advise":         {"cqltest", "protocol"},
	"protocol/client/traffic":        {"cqltest"},
	"protocol/client/diagram":        {"cqltest", "protocol/client", "cql/cqlerr"},
	"protocol/client/shell":          {"cqltest"},
	"protocol/client/shell/prompt":   {"cqltest", "cqltest/functions", "internal/certificates", "protocol", "cql/cqlerr"},
	"compat_tests/drivers/histories": {"internal/inside", "internal/nodes", "store/engine"},
	"compat_tests/example":           {"cqltest", "cqltest/gocqltest"},
	"compat_tests/script":            {"compat_tests/tamper", "internal/inside", "server", "cqltest"},
	"compat_tests/tamper":            {"protocol/client", "cqltest"},
	"compat_tests/differ":            {"compat_tests/tamper", "cqltest", "cqltest/functions"},
	"compat_tests/recorded":          {"cqltest"},
	"compat_tests/transcripts":       {"compat_tests/tamper"},
	"server":                         {"cqltest", "cqltest/functions", "internal/inside", "internal/nodes", "protocol/client", "store/engine", "store/engine/enginetest", "store/engine/memory"},
	"planner":                        {"cql/parser"},
	"planner/define":                 {"cql/java", "cql/parser"},
	"planner/scope":                  {"cql/java"},
	"planner/expr":                   {"cql/parser"},
	"planner/exec":                   {"cql", "cql/parser", "store/system", "store/engine", "store/engine/memory"},
	"store":                          {"store/engine/memory", "store/engine/enginetest", "cql/analysis"},
	"store/snapshot":                 {"store/engine/memory"},
	"store/system":                   {"store/engine", "store/engine/memory"},
	"cql/java":                       {"cql/types/json"},
	"auth/roles":                     {"store/engine", "store/engine/enginetest", "store/system"},
	"store/engine/badger":            {"store/engine/enginetest"},
	"store/cluster":                  {"store/engine/enginetest", "internal/tso"},
	"internal/nodes":                 {"protocol/client", "cql/types"},
	"store/engine/memory":            {"store/engine/enginetest"},
	"store/engine/disk":              {"store/engine/enginetest"},
	"cluster/tikv":                   {"cluster/tikv/tikvtest", "store/cluster", "store/engine/enginetest"},
	"cluster/tikv/real": {
		"cluster/local", "cluster/tikv", "compat_tests/process", "protocol/client", "store/engine", "store/engine/enginetest",
	},
	"cluster/cmd/cqld-cluster": {"cluster/local", "cluster/tikv/tikvtest", "protocol/client", "cql/types"},
	"server/console":           {"store/engine", "store/engine/memory"},
	"server/control":           {"cqltest", "protocol/client"},
	"server/statements":        {"store/engine", "store/engine/memory", "store/system"},
	"server/control/endpoints": {"server", "store", "store/engine", "store/engine/memory"},
	"cqltest/gocqltest":        {"protocol", "protocol/client", "cql/cqlerr"},
}

// goFile is a Go file of the module.
type goFile struct {
	path, folder string // the folder relative to the module, "." for main
	test         bool
	syntax       *ast.File
}

// TestArrows checks every import between our packages. It reads the files itself: a test that asks the go
// command is cached as passing after a bad import is added.
func TestArrows(t *testing.T) {
	for _, f := range goFiles(t) {
		allowed := arrows[f.folder]
		if f.test {
			allowed = append(slices.Clone(allowed), testArrows[f.folder]...)
		}
		for _, spec := range f.syntax.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			to, ours := strings.CutPrefix(path, modulePath+"/")
			if !ours || f.test && to == f.folder {
				continue
			}
			if !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s: %s may import only %v", f.path, to, f.folder, allowed)
			}
		}
	}
}

// unrecovered are the folders and files whose goroutines may end the process, with the reason.
var unrecovered = map[string]string{
	"compat_tests":                     "clients and tests",
	"cluster/bench":                    "a client",
	"cluster/crash":                    "a client",
	"cluster/local":                    "starts servers for tests",
	"cluster/placement":                "stands in for a placement driver, in tests",
	"cluster/tikv/tikvtest":            "for tests",
	"cluster/unistore":                 "stands in for TiKV, in tests",
	"command/command.go":               "waits for a signal",
	"command/platform_unix.go":         "asks who the parent is",
	"cqltest/template.go":              "recovers, and fails the test",
	"internal/nodes":                   "for tests",
	"planner/scope/routine_go.go":      "recovers, and the function fails",
	"protocol/client/shell":            "a client",
	"protocol/client/traffic/proxy.go": "a client",
	"protocol/client/transfer":         "a client",
	"server/wire/output.go":            "writeSoon recovers, without an allocation",
	"store/engine/enginetest":          "for tests",
}

// TestGoroutinesRecover wants each goroutine of a server to use package panics: a panic that nobody recovers from ends
// the process, for all clients.
func TestGoroutinesRecover(t *testing.T) {
	used := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test || f.folder == "internal/panics" {
			continue
		}
		files := token.NewFileSet()
		syntax, err := parser.ParseFile(files, f.path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			if !startsGoroutine(n) || usesPanics(n) {
				return true
			}
			for name := range unrecovered {
				if f.path == name || f.folder == name || strings.HasPrefix(f.folder, name+"/") {
					used[name] = true
					return true
				}
			}
			t.Errorf("%s starts a goroutine without package panics", files.Position(n.Pos()))
			return true
		})
	}
	for name := range unrecovered {
		if !used[name] {
			t.Errorf("%s starts no such goroutine", name)
		}
	}
}

// startsGoroutine reports whether a node is a go statement, or a call of WaitGroup.Go or one like it.
func startsGoroutine(n ast.Node) bool {
	if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
		s, ok := call.Fun.(*ast.SelectorExpr)
		_, literal := call.Args[0].(*ast.FuncLit)
		return ok && literal && s.Sel.Name == "Go"
	}
	_, ok := n.(*ast.GoStmt)
	return ok
}

// usesPanics reports whether a node calls a function of package panics, or the Go of a server, which does.
func usesPanics(n ast.Node) (uses bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, isName := s.X.(*ast.Ident)
			in, isField := s.X.(*ast.SelectorExpr)
			uses = uses || isName && x.Name == "panics" || isField && in.Sel.Name == "server" && s.Sel.Name == "Go"
		}
		return !uses
	})
	return uses
}

// TestModules checks that the module of cqld requires no driver and replaces nothing, so that go install can build it,
// and that the other modules of the repository require the same version of it.
func TestModules(t *testing.T) {
	var versions []string
	for _, folder := range []string{
		".", "cqltest/gocqltest", "cqltest/gocqlv2test", "compat_tests/example", "compat_tests/drivers", "compat_tests/console",
	} {
		content, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		if folder == "." {
			for _, wrong := range []string{"replace", "gocql", "native-protocol", "porcupine", "staticcheck"} {
				if strings.Contains(text, wrong) {
					t.Errorf("the module of cqld has %s", wrong)
				}
			}
			continue
		}
		for _, m := range regexp.MustCompile(`(?m)^\s+github.com/cqld/cqld\S* (v\S+)`).FindAllStringSubmatch(text, -1) {
			if versions = append(versions, m[1]); m[1] != versions[0] {
				t.Errorf("%s requires %s, others %s", folder, m[1], versions[0])
			}
		}
	}
	if len(versions) < 4 {
		t.Errorf("only %d requirements were found", len(versions))
	}
}

// TestToolchain wants no module to name a toolchain: whoever has the Go that CONTRIBUTING.md asks for would download
// another one, or could not build at all without a network.
func TestToolchain(t *testing.T) {
	modules := 0
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "go.mod" || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		modules++
		if line := regexp.MustCompile(`(?m)^toolchain .*|^go 1\.26\.[1-9].*`).Find(content); line != nil {
			t.Errorf("%s has %q", path, line)
		}
		return err
	})
	if err != nil || modules < 10 {
		t.Errorf("%d modules, error %v", modules, err)
	}
}

// light are the external modules that a module needs if it imports cqltest.
var light = []string{
	"github.com/antlr4-go/antlr/", "github.com/blevesearch/snowballstem", "github.com/golang/snappy", "github.com/pierrec/lz4/",
	"github.com/rs/zerolog", "golang.org/x/",
}

// TestCqltestIsLight checks that the packages that cqltest imports import no other modules. Neither may their tests:
// go mod tidy reads them too. cqltest is also without the compiler of users' functions, which is for those who import
// cqltest/functions.
func TestCqltestIsLight(t *testing.T) {
	files := map[string][]goFile{}
	for _, f := range goFiles(t) {
		files[f.folder] = append(files[f.folder], f)
	}
	seen := map[string]bool{}
	var walk func(folder string, tests bool)
	walk = func(folder string, tests bool) {
		if seen[folder] && !tests {
			return
		}
		seen[folder] = true
		for _, f := range files[folder] {
			for _, spec := range f.syntax.Imports {
				path := strings.Trim(spec.Path.Value, `"`)
				if f.test && !tests {
					continue
				} else if to, ours := strings.CutPrefix(path, modulePath+"/"); ours {
					walk(to, false)
				} else if host, _, _ := strings.Cut(path, "/"); strings.Contains(host, ".") &&
					!slices.ContainsFunc(light, func(l string) bool { return strings.HasPrefix(path, l) }) {
					t.Errorf("%s imports %s, which users of cqltest would have to require", f.path, path)
				}
			}
		}
	}
	walk("cqltest", false)
	if seen["cql/java"] {
		t.Error("cqltest imports cql/java")
	}
	for _, folder := range slices.Sorted(maps.Keys(seen)) {
		walk(folder, true)
	}
	if !seen["store/engine/memory"] || seen["store/engine/disk"] || seen["command"] {
		t.Errorf("cqltest imports %v", slices.Sorted(maps.Keys(seen)))
	}
}

// TestCqltestDeclaresItsTypes checks that cqltest exports no alias of another package's type: pkg.go.dev shows these
// without fields and methods.
func TestCqltestDeclaresItsTypes(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.folder != "cqltest" || f.test {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Assign.IsValid() && spec.Name.IsExported() {
				t.Errorf("%s: %s is an alias", f.path, spec.Name.Name)
			}
			return true
		})
	}
}

// TestPackageComments checks that exactly one file of each package has the package comment.
func TestPackageComments(t *testing.T) {
	comments := map[string][]string{}
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		at := comments[f.folder]
		if f.syntax.Doc != nil {
			at = append(at, f.path)
		}
		comments[f.folder] = at
	}
	for folder, at := range comments {
		if len(at) != 1 {
			t.Errorf("%s has %d package comments, want one: %v", folder, len(at), at)
		}
	}
}

var pathInText = regexp.MustCompile("`([a-z_]+(?:/[a-zA-Z0-9_./-]+|\\.(?:go|md|txt|g4)))`")

// TestPathsExist checks the paths in pages, except paths of files that the page itself shows.
func TestPathsExist(t *testing.T) {
	pages := append([]string{"ARCHITECTURE.md", "CONTRIBUTING.md", "compat_tests/README.md"}, pagePaths(t)...)
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range pathInText.FindAllStringSubmatch(string(content), -1) {
			if shown := "\n```" + strings.TrimPrefix(filepath.Ext(m[1]), ".") + " " + m[1] + "\n"; strings.Contains(string(content), shown) {
				continue
			}
			if strings.Contains(m[1], "<") || strings.HasPrefix(m[1], "go/") || module(m[1]) {
				continue
			}
			if _, err := os.Stat(filepath.FromSlash(m[1])); err != nil {
				t.Errorf("%s names %s: %v", page, m[1], err)
			}
		}
	}
}

// module reports whether a path-like text is the name of a Go module or of an example.
func module(path string) bool {
	return strings.Contains(path, ".com/") || strings.Contains(path, ".org/") || strings.HasPrefix(path, "cqlsh")
}

// goFiles parses every Go file of the module.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var all []goFile
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (d.Name()[0] == '.' || d.Name() == "testdata" || d.Name() == "cqld-data"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, goFile{
			path:   path,
			folder: filepath.ToSlash(filepath.Dir(path)),
			test:   strings.HasSuffix(path, "_test.go"),
			syntax: syntax,
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no Go files found")
	}
	return all
}
