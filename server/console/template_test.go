package console

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// Dot is the data of TestTemplate.
type Dot struct {
	Text   string
	Number int64
	List   []Dot
	Next   *Dot
	Any    any
}

// Link is a method that templates may call.
func (d *Dot) Link() string { return "/" + d.Text }

func TestTemplate(t *testing.T) {
	dot := &Dot{
		Text: `<a href="x" onclick='y'>&amp;` + "\x00", Number: 1234,
		List: []Dot{{Text: "one", Number: 1}, {Text: "<2>"}}, Next: &Dot{Any: &Dot{Text: "deep"}},
	}
	for _, test := range []struct{ text, want string }{
		{`<p title="{{.Text}}">{{.Text}}</p>`, `<p title="&lt;a href=&#34;x&#34; onclick=&#39;y&#39;&gt;&amp;amp;` + "\uFFFD" +
			`">&lt;a href=&#34;x&#34; onclick=&#39;y&#39;&gt;&amp;amp;` + "\uFFFD" + `</p>`},
		{`{{.Number}} {{of .Number "row"}} {{of 1 "row"}} {{bytes 2048}}`, "1234 1\u202f234 rows 1 row 2.0 KiB"},
		{`{{range .List}}[{{.Text}}{{if .Number}} {{.Number}}{{else if .Text}} none{{end}} {{.Link}}]{{end}}`, "[one 1 /one][&lt;2&gt; none /&lt;2&gt;]"},
		{`{{with .Next}}{{.Any.Text}}{{with .Next}}no{{else}}{{.Number}}{{end}}{{end}}`, "deep0"},
		{`{{$d := .}}{{range .List}}{{$d.Number}}{{$.Number}}{{$n := .Number}}{{$n}} {{end}}`, "123412341 123412340 "},
		{`{{define "x"}}<{{.}}{{$}}>{{end}}{{template "x" .Number}}`, "<12341234>"},
		{`{{block "b" .}}{{.Number}}{{end}} {{if and .Text (eq .Number 1234) (not .Any) (ne .Text "") (lt 1 .Number) (gt 2 1)}}yes{{end}}`, "1234 yes"},
		{`{{len .List}} {{urlquery .Text}} {{static "a"}}`, "2 %3Ca+href%3D%22x%22+onclick%3D%27y%27%3E%26amp%3B%00 a!"},
	} {
		tt, err := parseTemplate(templateFuncs(func(name string) string { return name + "!" }), test.text)
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		var b strings.Builder
		if err := tt.execute(&b, "frame", dot); err != nil || b.String() != test.want {
			t.Errorf("%s\n got %s, error %v\nwant %s", test.text, b.String(), err, test.want)
		}
	}
	for _, wrong := range []string{"{{.Nope}}", `{{template "nope"}}`, "{{.Text.Nope}}"} {
		tt, err := parseTemplate(templateFuncs(nil), wrong)
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.execute(new(strings.Builder), "frame", dot); err == nil {
			t.Errorf("%s has no error", wrong)
		}
	}
}

var (
	controlAction = regexp.MustCompile(`^(if|else|end|with|range|define|block|template) ?|^\$\w+ :=`)
	address       = regexp.MustCompile(`^(/|\{\{static "|\{\{[\w$.]*Link( \.)?\}\})`)
)

// TestPlacesOfActions checks that the templates have values only where escaping for HTML is right: in text, and in
// attributes with double quotes that are no scripts and styles. Addresses begin with a path of this server.
func TestPlacesOfActions(t *testing.T) {
	names, err := fs.Glob(files, "files/*.html")
	if err != nil || len(names) < 6 {
		t.Fatalf("%v, %v", names, err)
	}
	actions := 0
	for _, name := range names {
		content := fileText(strings.TrimPrefix(name, "files/"))
		inTag, attribute, start := false, "", 0 // attribute is the name of the one whose value this is
		for i := 0; i < len(content); i++ {
			rest := content[i:]
			switch {
			case strings.HasPrefix(rest, "{{"):
				action := rest[2:strings.Index(rest, "}}")]
				actions++
				if (inTag && attribute == "" && !controlAction.MatchString(action)) || strings.HasPrefix(attribute, "on") || attribute == "style" || attribute == "srcset" {
					t.Errorf("%s: {{%s}} in a tag or attribute %s", name, action, attribute)
				}
				i += len(action) + 3
			case attribute != "" && rest[0] == '"':
				value := content[start:i]
				if (attribute == "href" || attribute == "src" || strings.HasSuffix(attribute, "action")) && !address.MatchString(value) && value != "#main" {
					t.Errorf("%s: the address %s", name, value)
				}
				attribute = ""
			case attribute == "" && inTag && strings.HasPrefix(rest, `="`):
				before := content[:i]
				attribute = before[strings.LastIndexAny(before, " \t\n}")+1:]
				start, i = i+2, i+1
			case attribute == "" && inTag && (rest[0] == '\'' || rest[0] == '='):
				t.Errorf("%s: an attribute without double quotes: %.40s", name, rest)
			case attribute == "" && rest[0] == '<':
				inTag = true
				if strings.HasPrefix(rest, "<style") || strings.HasPrefix(rest, "<script") && !strings.Contains(rest[:strings.Index(rest, "\n")], "></script>") {
					t.Errorf("%s: %.40s", name, rest)
				}
			case attribute == "" && rest[0] == '>':
				inTag = false
			}
		}
	}
	if actions < 200 {
		t.Errorf("only %d actions were found", actions)
	}
}
