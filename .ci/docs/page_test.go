package main

import (
	"fmt"
	"strings"
	"testing"
)

const example = `# A page

    make

<!-- not run: it needs Docker -->

    docker build .
    docker run cqld

Text
    that goes on.

<!-- run: cd shop
export A=b -->
<!-- in another terminal -->

    cqld --memory

` + "```go shop_test.go\npackage shop\n\nfunc f() {}\n```\n\n```text\nprinted\n```" + `

<!-- in another terminal, until: cqld ping 1 -->

    cqld --listen 1
`

func TestSteps(t *testing.T) {
	all, err := steps(example)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%d %q%s until %q\n", s.line, s.code, said(s), s.until)
	}
	want := `3 "make\n" until ""
7 "docker build .\ndocker run cqld\n" is not run: it needs Docker until ""
13 "cd shop\nexport A=b\n" was done before until ""
17 "cqld --memory\n" runs until the page ends until "cqld ping"
19 "package shop\n\nfunc f() {}\n" is added to shop_test.go until ""
25 "printed\n" shows what is printed until ""
31 "cqld --listen 1\n" runs until the page ends until "cqld ping 1"
`
	if b.String() != want {
		t.Errorf("the steps are\n%s", b.String())
	}
}

func TestBadPages(t *testing.T) {
	for page, want := range map[string]string{
		"<!-- not run: why -->\n\ntext\n\n    make\n":            "line 1: there is no block below this comment",
		"text\n\n<!-- not run: why -->\n":                        "line 3: there is no block below this comment",
		"text\n\n```go\npackage shop\n```\n":                     `line 3: a block of "go" is neither a file nor marked as not run`,
		"<!-- not run: a -->\n<!-- not run: b -->\n\n    cqld\n": "line 1: there is no block below this comment",
	} {
		if _, err := steps(page); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", page, err, want)
		}
	}
}
