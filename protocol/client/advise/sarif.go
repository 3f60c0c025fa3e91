package advise

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
)

// The parts of SARIF 2.1.0 that a report needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Short   sarifMessage `json:"shortDescription"`
		Full    sarifMessage `json:"fullDescription"`
		Default sarifLevel   `json:"defaultConfiguration"`
	}
	sarifLevel struct {
		Level Severity `json:"level"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     Severity        `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

// SARIF prints the report in the format of static analysis tools. version is the program's.
func (r *Report) SARIF(w io.Writer, version string) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "cqld advise", Version: version}}, Results: []sarifResult{}}
	index := map[string]int{}
	for i, rule := range Rules {
		index[rule.Name] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: rule.Name, Short: sarifMessage{rule.Title}, Default: sarifLevel{rule.Severity},
			Full: sarifMessage{rule.Why + " Source: " + rule.Source + "."},
		})
	}
	for _, f := range r.Findings {
		at := sarifLocation{Logical: []sarifLogical{{f.Table, "resource"}}}
		if f.File != "" {
			at.Physical = &sarifPhysical{sarifArtifact{(&url.URL{Path: filepath.ToSlash(f.File)}).String()}, sarifRegion{f.Line}}
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Rule, RuleIndex: index[f.Rule], Level: f.Severity, Message: sarifMessage{f.String()},
			Locations: []sarifLocation{at},
		})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}
