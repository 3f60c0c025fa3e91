package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// step is a code block of a page, or commands in a comment.
type step struct {
	line     int // of the page
	code     string
	language string // "" for a comment
	file     string // the file that the block is appended to, or ""
	until    string // the block runs in the background; continue when this command succeeds
	skip     string // the reason for skipping the block
}

var (
	openFence = regexp.MustCompile("^```([a-z]*) ?(.*)$")
	comment   = regexp.MustCompile(`(?s)^<!-- (?:(not run|run): (.+)|in another terminal(?:, until: (.+))?) -->$`)
)

// steps parses a page.
func steps(page string) (all []step, err error) {
	lines := strings.Split(strings.TrimRight(page, "\n"), "\n")
	var mark step // from the comment above the next block
	add := func(s step) error {
		s.skip, s.until, mark = mark.skip, mark.until, step{}
		if s.skip == "" && s.file == "" && s.language != "sh" && s.language != "text" {
			return fmt.Errorf("line %d: a block of %q is neither a file nor marked as not run", s.line, s.language)
		}
		all = append(all, s)
		return nil
	}
	for i := 0; i < len(lines) && err == nil; {
		line, fence := lines[i], openFence.FindStringSubmatch(lines[i])
		indented := strings.HasPrefix(line, "    ") && (i == 0 || lines[i-1] == "" || strings.HasSuffix(lines[i-1], "-->"))
		if mark.line > 0 && line != "" && fence == nil && !indented {
			break
		}
		switch {
		case fence != nil:
			s := step{line: i + 1, language: fence[1], file: fence[2]}
			for i++; i < len(lines) && lines[i] != "```"; i++ {
				s.code += lines[i] + "\n"
			}
			i++
			err = add(s)
		case indented:
			s := step{line: i + 1, language: "sh"}
			for ; i < len(lines) && (lines[i] == "" || strings.HasPrefix(lines[i], "    ")); i++ {
				s.code += strings.TrimPrefix(lines[i], "    ") + "\n"
			}
			s.code = strings.TrimRight(s.code, "\n") + "\n"
			err = add(s)
		case strings.HasPrefix(line, "<!--"):
			begin := i
			for i++; i < len(lines) && !strings.Contains(lines[i-1], "-->"); i++ {
			}
			if m := comment.FindStringSubmatch(strings.Join(lines[begin:i], "\n")); m == nil {
			} else if m[1] == "run" {
				all = append(all, step{line: begin + 1, code: m[2] + "\n"})
			} else if m[1] == "not run" {
				mark = step{line: begin + 1, skip: m[2]}
			} else {
				mark = step{line: begin + 1, until: cmp.Or(m[3], "cqld ping")}
			}
		default:
			i++
		}
	}
	if err == nil && mark.line > 0 {
		err = fmt.Errorf("line %d: there is no block below this comment", mark.line)
	}
	return all, err
}
