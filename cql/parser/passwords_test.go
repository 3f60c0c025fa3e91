package parser

import (
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/secret"
)

// withPassword are statements with a password, P, as words with blanks between them.
var withPassword = []string{
	"CREATE ROLE r WITH PASSWORD = P",
	"CREATE ROLE IF NOT EXISTS r WITH LOGIN = true AND PASSWORD = P AND SUPERUSER = false",
	"CREATE ROLE r WITH HASHED PASSWORD = P AND LOGIN = true",
	"CREATE ROLE r WITH PASSWORD = P AND ACCESS TO DATACENTERS { 'dc1' , 'dc2' }",
	"CREATE ROLE r WITH ACCESS TO ALL DATACENTERS AND PASSWORD = P",
	"CREATE ROLE r WITH OPTIONS = { 'a' : 1 } AND PASSWORD = P",
	"ALTER ROLE IF EXISTS r WITH PASSWORD = P ;",
	"CREATE USER u WITH PASSWORD P SUPERUSER",
	"ALTER USER u WITH HASHED PASSWORD P",
	"BEGIN BATCH CREATE ROLE r WITH PASSWORD = P ; APPLY BATCH",
}

const thePassword = "hunter2"

// every is which of the mistakes are made, one in so many: all of them take some seconds.
const every = 13

// broken calls fn with a statement and with what follows from it by one mistake, in several spellings. n counts them.
func broken(statement string, n *int, fn func(text string)) {
	given := strings.Fields(statement)
	for _, form := range []string{
		"'hunter2'", "$$hunter2$$", `"hunter2"`, "hunter2", "'hunter2", "$$hunter2", "'a'hunter2'", "'''hunter2'", "hunter2'",
		"/* hunter2 */ 'x'", "'hunter2' -- hunter2", "2hunter2", "{'x': 'hunter2'}", "?hunter2", "!hunter2",
	} {
		isString := strings.ContainsAny(form[:1], "'$/{")
		words := slices.Clone(given)
		at := slices.Index(words, "P")
		words[at] = form
		say := func(words []string) {
			text := strings.Join(words, " ")
			for _, spelling := range []string{
				text, strings.ToLower(text), strings.Join(words, "\n/**/\t"), strings.ReplaceAll(text, " = ", "="),
			} {
				if *n++; *n%every == 0 {
					fn(spelling)
				}
			}
		}
		say(words)
		for i, word := range words {
			say(slices.Delete(slices.Clone(words), i, i+1))
			for _, inserted := range []string{"x", "'s'", "SELECT", ",", "?", "1", "(", word} {
				say(slices.Insert(slices.Clone(words), i, inserted))
			}
			if i == at {
				continue
			}
			half := len(word) / 2
			for _, other := range []string{"x", "'s'", word[1:], word + "x", word[:half] + " " + word[half:]} {
				replaced := slices.Clone(words)
				replaced[i] = other
				say(replaced)
			}
			for j := range words {
				if isString || j != at { // a name in the place of another one is a name
					swapped := slices.Clone(words)
					swapped[i], swapped[j] = swapped[j], swapped[i]
					say(swapped)
				}
			}
		}
	}
}

// No error quotes a password, whatever is wrong with the statement, and no text that is shown has it.
func TestNoErrorQuotesPasswords(t *testing.T) {
	refused, n, told := 0, 0, map[string]bool{}
	for _, statement := range withPassword {
		broken(statement, &n, func(text string) {
			if _, _, err := Parse(text); err != nil {
				refused++
				if strings.Contains(err.Error(), thePassword) && !told[err.Error()] {
					told[err.Error()] = true
					t.Errorf("%s\nis refused with %v", text, err)
				}
			}
			if shown := secret.Hide(text); strings.Contains(shown, thePassword) {
				t.Errorf("%s\nis shown as %s", text, shown)
			}
		})
	}
	if refused < 3_000 {
		t.Errorf("only %d statements were refused", refused)
	}
}

// Errors of statements about rows that name a password column show what is wrong, unless strings follow.
func TestErrorsOfRowsWithPasswords(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT password FRM users": "line 1:16 no viable alternative at input 'FRM' (SELECT [password] FRM...)",
		"INSERT INTO users (id, password) VALUES (1, 'hunter2') oops": "line 1:55 mismatched input '*******' expecting EOF " +
			"(...*******)",
	} {
		if _, _, err := Parse(text); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s\nis refused with %v", text, err)
		}
	}
}
