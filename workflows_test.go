package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow has the checked fields of a file in .github/workflows.
type workflow struct {
	On   map[string]any
	Jobs map[string]struct {
		RunsOn string `yaml:"runs-on"`
		Steps  []struct{ Uses, Run string }
	}
}

var (
	knownAction = regexp.MustCompile(`^(actions|docker)/[a-z-]+@v[0-9]+$`)
	makeStep    = regexp.MustCompile(`^make ([a-z-]+)( [A-Z]+=\S+)*$`)
	ghStep      = regexp.MustCompile(`^gh release create .* dist/cqld_\* dist/SHA256SUMS .*--notes-file CHANGELOG\.md$`)
)

// TestWorkflows checks that the workflows use actions of GitHub and Docker at a major version, and run scripts and
// targets of the project, which can be run without a workflow.
func TestWorkflows(t *testing.T) {
	paths, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d workflows, error %v", len(paths), err)
	}
	targets := makeTargets(t)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(content, &w); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if len(w.On) == 0 || len(w.Jobs) == 0 {
			t.Errorf("%s never runs anything", path)
		}
		for name, job := range w.Jobs {
			if job.RunsOn == "" || len(job.Steps) == 0 {
				t.Errorf("%s: the job %s runs nothing", path, name)
			}
			for _, step := range job.Steps {
				switch {
				case step.Uses != "" && step.Run == "":
					if !knownAction.MatchString(step.Uses) {
						t.Errorf("%s: %s is not an action of GitHub or Docker at a major version", path, step.Uses)
					}
				case step.Run == ".ci/run":
					if info, err := os.Stat(step.Run); err != nil || info.Mode()&0o111 == 0 {
						t.Errorf("%s: %s cannot be run: %v", path, step.Run, err)
					}
				case makeStep.MatchString(step.Run):
					if target := makeStep.FindStringSubmatch(step.Run)[1]; !targets[target] {
						t.Errorf("%s: there is no target %s", path, target)
					}
				case ghStep.MatchString(step.Run):
				default:
					t.Errorf("%s: %q is neither .ci/run nor a target of make", path, step.Run)
				}
			}
		}
	}
}
