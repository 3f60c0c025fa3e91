package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLicence finds the licences of modules, and refuses what it does not know.
func TestLicence(t *testing.T) {
	for name, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":                                          "Apache-2.0",
		"MIT\nPermission is hereby granted, free of charge,\nto any person obtaining a copy of": "MIT",
		"Redistribution and use in source and binary forms ... Neither the name of X":           "BSD-3-Clause",
		"Redistribution and use in source and binary forms, with":                               "BSD-2-Clause",
		"Mozilla Public License, version 2.0":                                                   "MPL-2.0",
		"All rights reserved. GNU GENERAL PUBLIC LICENSE Version 3":                             "",
	} {
		if got := identify(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	dir := t.TempDir()
	m := &module{Path: "example.org/m", Dir: dir}
	if _, _, err := licence(m); err == nil || !strings.Contains(err.Error(), "no file") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "LICENSE.md"), []byte("Ask us."), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := licence(m); err == nil || !strings.Contains(err.Error(), "no licence that is known") {
		t.Error(err)
	}
}
