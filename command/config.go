package command

import (
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cqld/cqld/planner/guardrail"
)

// assignments are the settings that --set gives: name=value, several of them separated by semicolons.
type assignments map[string]string

// String implements flag.Value.
func (a *assignments) String() string { return "" }

// Set implements flag.Value.
func (a *assignments) Set(text string) error {
	for _, one := range strings.Split(text, ";") {
		name, value, ok := strings.Cut(one, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return fmt.Errorf("%q: want name=value", one)
		}
		if *a == nil {
			*a = assignments{}
		}
		(*a)[name] = strings.TrimSpace(value)
	}
	return nil
}

// readGuardrails reads the settings of a file, which may be "", and those of --set, which win.
func readGuardrails(file string, set assignments) (*guardrail.Settings, error) {
	given := map[string]string{}
	if file != "" {
		var err error
		if given, err = readConfig(file); err != nil {
			return nil, badFlag("config", file, err.Error())
		}
	}
	for name, value := range set {
		given[name] = value
	}
	s, err := guardrail.Read(given)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return s, nil
}

// readConfig reads a cqld.yaml: a value for each name, or a list of them. What has no value keeps its default.
func readConfig(file string) (map[string]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var values map[string]yaml.Node
	if err := yaml.Unmarshal(content, &values); err != nil {
		return nil, err
	}
	given := map[string]string{}
	for name, value := range values {
		switch {
		case value.Kind == yaml.SequenceNode:
			words := make([]string, len(value.Content))
			for i, w := range value.Content {
				if w.Kind != yaml.ScalarNode {
					return nil, fmt.Errorf("line %d: want a list of words", w.Line)
				}
				words[i] = w.Value
			}
			given[name] = strings.Join(words, ", ")
		case value.Kind != yaml.ScalarNode:
			return nil, fmt.Errorf("line %d: want a value or a list", value.Line)
		case value.Tag != "!!null":
			given[name] = value.Value
		}
	}
	return given, nil
}
