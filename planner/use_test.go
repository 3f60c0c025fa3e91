package planner

import "testing"

func TestIsUse(t *testing.T) {
	for text, want := range map[string]bool{
		"USE ks": true, "  use\n\"Ks\"": true, `use"Ks"`: true, "UPDATE t SET a = 1": false, "use": false, "uses x": false,
	} {
		if IsUse(text) != want {
			t.Errorf("IsUse(%q) is %v", text, !want)
		}
	}
}
