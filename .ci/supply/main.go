// Command supply lists the parts of a release.
//
//	supply licences [FILE]     checks the licences of all modules that the build and the tests use, and writes the texts
//	                           of the binary's licences to FILE
//	supply sbom BINARY FILE VERSION
//	                           writes the SBOM of a binary in CycloneDX's format
//
// It reads the files of modules in the module cache. An unknown licence is an error.
package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	err := errors.New("want licences [FILE] or sbom BINARY FILE VERSION")
	switch args := os.Args[1:]; {
	case len(args) > 0 && len(args) <= 2 && args[0] == "licences":
		err = licences(args[1:])
	case len(args) == 4 && args[0] == "sbom":
		err = sbom(args[1], args[2], args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

// module is a used module.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

// own is the prefix of our modules' paths.
const own = "github.com/cqld/cqld"

// tools is the module of the tools. It needs the folder of the repository.
const tools = ".ci/tools/go.mod"

// modules lists the third-party modules that packages depend on, sorted by path.
func modules(args ...string) ([]*module, error) {
	args = append([]string{"list", "-deps", "-json=Module"}, args...)
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	seen := map[string]*module{}
	for packages := json.NewDecoder(bytes.NewReader(out)); packages.More(); {
		var of struct{ Module *module }
		if err := packages.Decode(&of); err != nil {
			return nil, err
		}
		m := of.Module
		if m == nil {
			continue // of Go itself
		}
		if m.Replace != nil {
			m.Dir = m.Replace.Dir
		}
		if !m.Main && !strings.HasPrefix(m.Path, own) {
			seen[m.Path] = m
		}
	}
	var all []*module
	for _, m := range seen {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// known are the accepted licences, each with a sentence that occurs only in its text.
var known = []struct {
	id   string // as SPDX has it
	text *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`Apache License,? Version 2\.0`)},
	{"MPL-2.0", regexp.MustCompile(`Mozilla Public License,? [Vv]ersion 2\.0`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge, to any person obtaining a copy`)},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify, and/?(or)? distribute this software for any purpose with or without fee`)},
	{"BSD-3-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms.*(Neither the name|names of (its|any) contributors)`)},
	{"BSD-2-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms`)},
}

// licenceFile matches the names of files with licences.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([-.].*)?$`)

// licence returns the licences of a module and their texts.
func licence(m *module) (ids []string, text string, err error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", m.Path, err)
	}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return nil, "", err
		}
		id := identify(string(b))
		if id == "" {
			return nil, "", fmt.Errorf("%s: %s is of no licence that is known", m.Path, e.Name())
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		text += string(b)
	}
	if len(ids) == 0 {
		return nil, "", fmt.Errorf("%s has no file with a licence", m.Path)
	}
	return ids, text, nil
}

// identify returns the licence of a text, or "".
func identify(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	for _, k := range known {
		if k.text.MatchString(line) {
			return k.id
		}
	}
	return ""
}

// licences checks all modules and prints their licences. It writes the texts of the binary's licences to a file.
func licences(file []string) error {
	all, err := modules("-test", "./...")
	if err != nil {
		return err
	}
	if _, err := os.Stat(tools); err == nil {
		of, err := modules("-modfile="+tools, "tool")
		if err != nil {
			return err
		}
		all = append(all, of...)
	}
	shipped, err := modules(".")
	if err != nil {
		return err
	}
	var wrong []error
	for _, m := range all {
		ids, _, err := licence(m)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		use := "tests and tools"
		if slices.ContainsFunc(shipped, func(s *module) bool { return s.Path == m.Path }) {
			use = "the binary"
		}
		fmt.Printf("%-60s %-14s %s\n", m.Path+" "+m.Version, strings.Join(ids, " AND "), use)
	}
	if err := errors.Join(wrong...); err != nil || len(file) == 0 {
		return err
	}
	var b strings.Builder
	for _, m := range shipped {
		ids, text, err := licence(m)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s (%s)\n\n%s\n%s\n", m.Path, m.Version, strings.Join(ids, " AND "), text, strings.Repeat("-", 80))
	}
	return os.WriteFile(file[0], []byte(b.String()), 0o644)
}

// The used parts of a CycloneDX document.
type (
	document struct {
		Format      string      `json:"bomFormat"`
		SpecVersion string      `json:"specVersion"`
		Version     int         `json:"version"`
		Metadata    metadata    `json:"metadata"`
		Components  []component `json:"components"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		URL        string     `json:"purl"`
		Licences   []choice   `json:"licenses,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	choice struct {
		Licence struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

// sbom writes an SBOM from the build information of a binary.
func sbom(binary, file, version string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	used, err := modules(".")
	if err != nil {
		return err
	}
	d := document{Format: "CycloneDX", SpecVersion: "1.6", Version: 1}
	d.Metadata.Component = component{Type: "application", Name: info.Main.Path, Version: version}
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "vcs") || strings.HasPrefix(s.Key, "GO") || s.Key == "CGO_ENABLED" || s.Key == "-trimpath" {
			d.Metadata.Component.Properties = append(d.Metadata.Component.Properties, property{"go:" + s.Key, s.Value})
		}
	}
	d.Metadata.Component.Ref = info.Main.Path
	d.Metadata.Component.URL = "pkg:golang/" + info.Main.Path
	d.Components = append(d.Components, component{
		Type: "library", Ref: "std", Name: "std", Version: info.GoVersion, URL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	})
	for _, m := range info.Deps {
		i := slices.IndexFunc(used, func(u *module) bool { return u.Path == m.Path && u.Version == m.Version })
		if i < 0 {
			return fmt.Errorf("%s was not built here: it has %s %s", binary, m.Path, m.Version)
		}
		ids, _, err := licence(used[i])
		if err != nil {
			return err
		}
		url := "pkg:golang/" + m.Path + "@" + m.Version
		c := component{Type: "library", Ref: url, Name: m.Path, Version: m.Version, URL: url}
		c.Properties = []property{{"go:sum", m.Sum}}
		for _, id := range ids {
			var one choice
			one.Licence.ID = id
			c.Licences = append(c.Licences, one)
		}
		d.Components = append(d.Components, c)
	}
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
