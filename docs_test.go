package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/cqld/cqld/command"
	"github.com/cqld/cqld/cqltest"
)

// page is a Markdown page for users.
type page struct {
	path, text string
	blocks     []block
}

// block is a block of code: fenced, or indented by four spaces.
type block struct {
	language string // of a fenced block
	code     string
}

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// pagePaths are the pages for users.
func pagePaths(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d pages in docs, error %v", len(paths), err)
	}
	return append([]string{"README.md", "SECURITY.md", "CHANGELOG.md"}, paths...)
}

// userPages reads the pages for users.
func userPages(t *testing.T) []page {
	t.Helper()
	var pages []page
	for _, path := range pagePaths(t) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p := page{path: filepath.ToSlash(path), text: string(content)}
		for _, m := range fence.FindAllStringSubmatch(p.text, -1) {
			p.blocks = append(p.blocks, block{language: m[1], code: m[2]})
		}
		var indented strings.Builder
		for line := range strings.Lines(fence.ReplaceAllString(p.text, "")) {
			if code, ok := strings.CutPrefix(line, "    "); ok {
				indented.WriteString(code)
			}
		}
		p.blocks = append(p.blocks, block{code: indented.String()})
		pages = append(pages, p)
	}
	return pages
}

var (
	helpCommand = regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`)
	helpFlag    = regexp.MustCompile(`(?m)^  (?:-[a-zA-Z], |    )?--([a-z][a-z-]*)`)
	codeFlag    = regexp.MustCompile("`--([a-z][a-z-]*)[ =`]")
)

// cqld runs a command and returns its exit code and what it printed.
func cqld(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := command.Program{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	for name, value := range env {
		p.Environ = append(p.Environ, name+"="+value)
	}
	code = p.Run(t.Context())
	return code, out.String(), errs.String()
}

// allFlags are the flags of all commands.
func allFlags(t *testing.T) map[string]bool {
	t.Helper()
	flags := map[string]bool{}
	_, list, _ := cqld(t, nil, "help")
	for _, m := range helpCommand.FindAllStringSubmatch(list, -1) {
		code, help, errs := cqld(t, nil, m[1], "--help")
		if code != 0 {
			t.Fatalf("%s --help: exit %d, %s", m[1], code, errs)
		}
		for _, m := range helpFlag.FindAllStringSubmatch(help, -1) {
			flags[m[1]] = true
		}
	}
	if !flags["listen"] || !flags["execute"] {
		t.Fatalf("flags were not found in the help of\n%s", list)
	}
	return flags
}

// clusterFlags are the flags of cqld-cluster, which is in a module that this one does not know, beside those of cqld.
func clusterFlags(t *testing.T) map[string]bool {
	t.Helper()
	flags := map[string]bool{}
	for _, file := range []string{"cluster/cmd/cqld-cluster/main.go", "command/shared.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`f\.\w+Var\(&[\w.]+, "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
			flags[m[1]] = true
		}
	}
	if len(flags) == 0 {
		t.Fatal("cqld-cluster has no flags")
	}
	return flags
}

// TestDocumentedFlags wants every page to name only flags that exist. Package command tests the tables of flags.
func TestDocumentedFlags(t *testing.T) {
	flags := allFlags(t)
	maps.Copy(flags, clusterFlags(t))
	for _, p := range userPages(t) {
		for _, m := range codeFlag.FindAllStringSubmatch(p.text, -1) {
			if !flags[m[1]] {
				t.Errorf("%s names --%s, which is no flag of any command", p.path, m[1])
			}
		}
	}
}

// makeTargets are the targets that the Makefile describes.
func makeTargets(t *testing.T) map[string]bool {
	t.Helper()
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):.* ## `).FindAllStringSubmatch(string(makefile), -1) {
		targets[m[1]] = true
	}
	return targets
}

var (
	makeCommand = regexp.MustCompile("(?m)(?:^ *|`)make ([a-z-]+)(?:[ `]|$)")
	grepCommand = regexp.MustCompile("`(grep -[^`]+)`")
	testCommand = regexp.MustCompile("`go test[^`]* -run '\\^([A-Za-z]+)\\$?' ([^` ]+)`")
	ownCommand  = regexp.MustCompile(`(?m)^cqld (exec|ping|version)( .*)?$`)
)

// TestDocumentedCommands runs the commands of cqld that the pages show, against a server of its own, and the searches
// that show limits. Targets of make and tests that the pages name must exist.
func TestDocumentedCommands(t *testing.T) {
	s := cqltest.RunT(t)
	targets, ran := makeTargets(t), 0
	schema := filepath.Join(t.TempDir(), "schema.cql")
	if err := os.WriteFile(schema, []byte("SELECT key FROM system.local;"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range userPages(t) {
		for _, m := range makeCommand.FindAllStringSubmatch(p.text, -1) {
			if !targets[m[1]] {
				t.Errorf("%s names make %s, which does not exist", p.path, m[1])
			}
		}
		for _, m := range grepCommand.FindAllStringSubmatch(p.text, -1) {
			search := strings.ReplaceAll(m[1], `\|`, "|") // as tables escape it
			if out, err := exec.Command("sh", "-c", search).CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v %s", p.path, search, err, out)
			}
			ran++
		}
		for _, m := range testCommand.FindAllStringSubmatch(p.text, -1) {
			search := exec.Command("grep", "-rqE", "^func "+m[1]+"\\(", "--include=*_test.go", m[2])
			if out, err := search.CombinedOutput(); err != nil {
				t.Errorf("%s: there is no test %s in %s %s", p.path, m[1], m[2], out)
			}
		}
		for _, b := range p.blocks {
			for _, m := range ownCommand.FindAllString(b.code, -1) {
				m, _, _ = strings.Cut(m, "  ") // an explanation
				if strings.Contains(m, "[ADDR]") {
					continue
				}
				args := words(strings.NewReplacer("127.0.0.1:9042", s.Addr(), "schema.cql", schema).Replace(m))
				if code, _, errs := cqld(t, map[string]string{"CQLD_LISTEN": s.Addr()}, args[1:]...); code != 0 {
					t.Errorf("%s: %s: exit %d, %s", p.path, m, code, errs)
				}
				ran++
			}
		}
	}
	if ran < 10 {
		t.Errorf("only %d commands were found", ran)
	}
}

// words splits a command line at spaces that are not quoted.
func words(line string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`"([^"]*)"|\S+`).FindAllStringSubmatch(line, -1) {
		if m[1] != "" {
			all = append(all, m[1])
		} else {
			all = append(all, m[0])
		}
	}
	return all
}

// TestDocumentedCode wants Go that the pages show to stand in the examples of gocqltest, word for word, and YAML to be
// readable.
func TestDocumentedCode(t *testing.T) {
	const file = "cqltest/gocqltest/example_test.go"
	examples, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range userPages(t) {
		for _, b := range p.blocks {
			switch b.language {
			case "go":
				if !strings.Contains(string(examples), b.code) {
					t.Errorf("%s shows what is not in %s:\n%s", p.path, file, b.code)
				}
			case "yaml":
				var content map[string]any
				if err := yaml.Unmarshal([]byte(b.code), &content); err != nil {
					t.Errorf("%s: %v in\n%s", p.path, err, b.code)
				}
			}
		}
	}
}

var link = regexp.MustCompile(`\]\(([^):#]*)(?:#([^)]*))?\)`)

// TestLinks wants links between the pages to lead somewhere.
func TestLinks(t *testing.T) {
	for _, p := range userPages(t) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(p.text, ""), -1) {
			path := filepath.Join(filepath.Dir(p.path), filepath.FromSlash(m[1]))
			if m[1] == "" {
				path = p.path
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Errorf("%s links to %s: %v", p.path, m[1], err)
			} else if m[2] != "" && !slices.Contains(anchors(string(content)), m[2]) {
				t.Errorf("%s links to #%s, which %s does not have", p.path, m[2], path)
			}
		}
	}
}

// anchors are what the headings of a page can be linked by.
func anchors(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}
