package command

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cqld/cqld/internal/suggest"
	"github.com/cqld/cqld/planner/guardrail"
)

// setting is the value of a setting and its origin: FILE:LINE or --set.
type setting struct{ value, place string }

// readGuardrails reads the settings of a file, if one is given, and of --set, which win.
func readGuardrails(file string, set assignments) (*guardrail.Settings, error) {
	given := map[string]setting{}
	if file != "" {
		if err := readConfig(file, given); err != nil {
			return nil, usagef("%w", err)
		}
	}
	for name, value := range set {
		given[name] = setting{value, "--set"}
	}
	known := settingNames()
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) { // so that the same mistake is reported each time
		if !slices.Contains(known, name) {
			return nil, usagef("%s: %w", given[name].place, unknownSetting(name, known))
		}
		values[name] = given[name].value
	}
	s, err := guardrail.Read(values)
	if err != nil {
		name, _, _ := strings.Cut(err.Error(), ":")
		if from, ok := given[name]; ok {
			return nil, usagef("%s: %w", from.place, err)
		}
		return nil, usagef("%w", err)
	}
	return s, nil
}

// settingNames returns the names of all settings.
func settingNames() (names []string) {
	for _, s := range guardrail.Default().Shown() {
		names = append(names, s.Name)
	}
	return names
}

// unknownSetting returns the error for an unknown setting, which suggests a similar one.
func unknownSetting(name string, known []string) error {
	_, err := guardrail.Read(map[string]string{name: ""})
	if near := suggest.Nearest(name, known); near != "" {
		return fmt.Errorf("%w: did you mean %s?", err, near)
	}
	return err
}

// readConfig reads a YAML file that maps names to a value or a list of values. A name without a value keeps its
// default.
func readConfig(file string, given map[string]setting) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("--config: %w", cannotRead(file, err))
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(document.Content) == 0 {
		return nil // empty, or only comments
	}
	all := document.Content[0]
	if all.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: want NAME: VALUE on each line", file, all.Line)
	}
	for i := 0; i+1 < len(all.Content); i += 2 {
		name, value := all.Content[i], all.Content[i+1]
		place := fmt.Sprintf("%s:%d", file, name.Line)
		if _, twice := given[name.Value]; twice {
			return fmt.Errorf("%s: %s is given a second time", place, name.Value)
		}
		switch {
		case value.Kind == yaml.SequenceNode:
			words := make([]string, len(value.Content))
			for i, w := range value.Content {
				if w.Kind != yaml.ScalarNode {
					return fmt.Errorf("%s:%d: want a list of words", file, w.Line)
				}
				words[i] = w.Value
			}
			given[name.Value] = setting{strings.Join(words, ", "), place}
		case value.Kind != yaml.ScalarNode:
			return fmt.Errorf("%s:%d: want a value or a list", file, value.Line)
		case value.Tag != "!!null":
			given[name.Value] = setting{value.Value, place}
		default:
			if !slices.Contains(settingNames(), name.Value) {
				return fmt.Errorf("%s: %w", place, unknownSetting(name.Value, settingNames()))
			}
		}
	}
	return nil
}
