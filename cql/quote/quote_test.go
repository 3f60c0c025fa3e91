package quote

import "testing"

// The words are those of Cassandra's own list of reserved words.
func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"v": "v", "v_1": "v_1", "_v": `"_v"`, "1v": `"1v"`, "V": `"V"`, "": `""`, "é": `"é"`,
		"order": `"order"`, "schema": `"schema"`, "nan": `"nan"`, "null": `"null"`, "json": "json",
		"true": "true", "key": "key", "text": "text", `a"b`: `"a""b"`,
	} {
		if got := Name(name); got != want {
			t.Errorf("%q prints %s, want %s", name, got, want)
		}
	}
	if got := Text("it's"); got != "'it''s'" {
		t.Errorf("a text prints %s", got)
	}
}
