package command

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cqld/cqld/planner/guardrail"
)

var (
	settingRow  = regexp.MustCompile("(?m)^\\| (`[a-z_]+`(?:, `[a-z_]+`)*) \\| (\\S+) \\|")
	settingName = regexp.MustCompile("`([a-z_]+)`")
)

// TestDocumentedSettings wants docs/operating.md to list all settings with their defaults.
func TestDocumentedSettings(t *testing.T) {
	page, err := os.ReadFile("../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, row := range settingRow.FindAllStringSubmatch(string(page), -1) {
		for _, name := range settingName.FindAllStringSubmatch(row[1], -1) {
			listed[name[1]] = row[2]
		}
	}
	for _, s := range guardrail.Default().Shown() {
		value := s.Value
		if s.Null {
			value = "null"
		}
		if listed[s.Name] != value {
			t.Errorf("docs/operating.md has the default %q of %s, which is %s", listed[s.Name], s.Name, value)
		}
	}
}

// A file gives settings by their names, and --set wins.
func TestConfigFile(t *testing.T) {
	file := t.TempDir() + "/cqld.yaml"
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("tables_warn_threshold: 5\npage_size_warn_threshold: 7 # rows\ngroup_by_enabled: false\n" +
		"table_properties_warned: [comment, cdc]\ncollection_size_warn_threshold: 5KiB\ncolumn_value_size_warn_threshold:\n" +
		"read_consistency_levels_warned:\n  - ALL\n")
	s, err := readGuardrails(file, assignments{"page_size_warn_threshold": "9"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Tables.Warn != 5 || s.PageSize.Warn != 9 || s.GroupByEnabled || len(s.TableProperties.Warned) != 2 ||
		s.CollectionSize.Warn != 5<<10 || s.ColumnValueSize.Warn != guardrail.Off || len(s.ReadLevels.Warned) != 1 {
		t.Errorf("read %+v", s)
	}
	for content, want := range map[string]string{
		"nothing: 1\n":                         "nothing is not a setting",
		"tables_warn_threshold: {a: 1}\n":      "cqld.yaml:1: want a value or a list",
		"table_properties_warned: [[comment]]": "cqld.yaml:1: want a list of words",
		"tables_warn_threshold 5":              "cqld.yaml:1: want NAME: VALUE on each line",
	} {
		write(content)
		if _, err := readGuardrails(file, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
	if _, err := readGuardrails(file+".missing", nil); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// Several settings may come in one text, as they do from the environment.
func TestAssignments(t *testing.T) {
	var a assignments
	if err := a.Set("tables_warn_threshold=5; table_properties_warned=[comment, cdc]"); err != nil {
		t.Fatal(err)
	}
	if len(a) != 2 || a["table_properties_warned"] != "[comment, cdc]" {
		t.Errorf("read %v", a)
	}
	if err := a.Set("tables_warn_threshold"); err == nil {
		t.Error("a name without a value is a setting")
	}
}
