package script

import (
	"regexp"
	"slices"
	"strings"
)

// signatureList is the list of functions in the texts about calls that fit none of them or several. Cassandra has it
// in the order of a hash map, which is another one on each node.
var signatureList = regexp.MustCompile(`(\((?:known type|can be matched by following) signatures: )(.*)(\)(?:: use type casts to disambiguate)?)$`)

// sortSignatures puts such a list into alphabetical order; other texts stay as they are.
func sortSignatures(message string) string {
	m := signatureList.FindStringSubmatchIndex(message)
	if m == nil {
		return message
	}
	var all []string
	for part := range strings.SplitSeq(message[m[4]:m[5]], ", ") {
		if len(all) > 0 && !strings.Contains(part, " : (") {
			all[len(all)-1] += ", " + part // of a signature with several arguments
			continue
		}
		all = append(all, part)
	}
	slices.Sort(all)
	return message[:m[4]] + strings.Join(all, ", ") + message[m[5]:]
}
