package cqlfiles

import (
	"fmt"
	"os"
	"strings"
)

// ReadSettings reads a file in the format of cqlshrc: sections in brackets with lines "key = value" or "key: value".
// Keys are in lower case. Lines that begin with # or ; are comments, and indented lines continue the value before.
func ReadSettings(path string) (sections map[string]map[string]string, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sections = map[string]map[string]string{}
	var section map[string]string
	key, number := "", 0
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\ufeff")) {
		number++
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case text[0] == '[' && strings.HasSuffix(text, "]"):
			name := text[1 : len(text)-1]
			if section = sections[name]; section == nil {
				section = map[string]string{}
				sections[name] = section
			}
			key = ""
		case (line[0] == ' ' || line[0] == '\t') && key != "":
			section[key] += "\n" + text
		default:
			at := strings.IndexAny(text, "=:")
			if at <= 0 || section == nil {
				return nil, fmt.Errorf("line %d is no section and no setting", number)
			}
			key = strings.ToLower(strings.TrimSpace(text[:at]))
			section[key] = strings.TrimSpace(text[at+1:])
		}
	}
	return sections, nil
}
