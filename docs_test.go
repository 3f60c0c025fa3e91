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
)

// page is a Markdown page for users.
type page struct {
	path, text string
	blocks     []block
}

// block is a fenced block of code.
type block struct{ language, code string }

var fence = regexp.MustCompile("(?ms)^```([a-z]*)[^\n]*\n(.*?)^```$")

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
		pages = append(pages, p)
	}
	return pages
}

var (
	helpCommand = regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`)
	helpFlag    = regexp.MustCompile(`(?m)^  (?:-[a-zA-Z], |    )?--([a-z][a-z-]*)`)
	codeFlag    = regexp.MustCompile("`--([a-z][a-z-]*)[ =`]")
)

// cqld runs a command and returns its exit code and output.
func cqld(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := command.Program{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	code = p.Run(t.Context())
	return code, out.String(), errs.String()
}

// allFlags are the flags of all commands.
func allFlags(t *testing.T) map[string]bool {
	t.Helper()
	flags := map[string]bool{}
	_, list, _ := cqld(t, "help")
	for _, m := range helpCommand.FindAllStringSubmatch(list, -1) {
		code, help, errs := cqld(t, m[1], "--help")
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

// clusterFlags are the flags of cqld-cluster in addition to cqld's. Its module cannot be imported here.
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

// TestDocumentedFlags checks that the pages name only flags that exist. Package command tests the tables of flags.
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
)

// TestDocumentedCommands runs the searches that show limits. Targets of make and tests that the pages name must exist.
// The script .ci/docs runs the blocks of the pages.
func TestDocumentedCommands(t *testing.T) {
	targets, ran := makeTargets(t), 0
	for _, p := range userPages(t) {
		for _, m := range makeCommand.FindAllStringSubmatch(p.text, -1) {
			if !targets[m[1]] {
				t.Errorf("%s names make %s, which does not exist", p.path, m[1])
			}
		}
		for _, m := range grepCommand.FindAllStringSubmatch(p.text, -1) {
			search := strings.ReplaceAll(m[1], `\|`, "|") // escaped in a table
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
	}
	if ran < 10 {
		t.Errorf("only %d searches were found", ran)
	}
}

// TestDocumentedYAML parses the YAML in the pages.
func TestDocumentedYAML(t *testing.T) {
	for _, p := range userPages(t) {
		for _, b := range p.blocks {
			if b.language != "yaml" {
				continue
			}
			var content map[string]any
			if err := yaml.Unmarshal([]byte(b.code), &content); err != nil {
				t.Errorf("%s: %v in\n%s", p.path, err, b.code)
			}
		}
	}
}

var link = regexp.MustCompile(`\]\(([^):#]*)(?:#([^)]*))?\)`)

// TestLinks checks that links between the pages have targets.
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

// anchors are the anchors of a page's headings.
func anchors(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}
