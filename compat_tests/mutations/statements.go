package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cqld/cqld/compat_tests/script"
)

// statements are those of all scripts below a folder, each once, except statements that lock everybody out.
func statements(folder string) (texts []string, err error) {
	known := map[string]bool{}
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s, err := script.Parse(string(content))
		if err != nil {
			return err
		}
		for _, b := range s.Blocks {
			for _, text := range b.Statements {
				if !known[text] && !locksOut(text) {
					known[text] = true
					texts = append(texts, text)
				}
			}
		}
		return nil
	})
	return texts, err
}

// locksOut reports whether a statement may take the superuser, or what the superuser may do: nobody could look at the
// server any more.
func locksOut(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, superuser) || strings.Contains(text, "truncate") && strings.Contains(text, "system_auth")
}
