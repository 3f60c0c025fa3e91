package script

import "regexp"

// javaDetail is what follows the name of a Java exception that the virtual machine throws itself. After many of them
// it leaves that out.
var javaDetail = regexp.MustCompile(`(?s)((?:NullPointer|ArrayIndexOutOfBounds|ClassCast)Exception)[: ].*`)

// nodeAddress is how Cassandra names itself when it fails to read or write.
var nodeAddress = regexp.MustCompile(`from /[0-9.]+:[0-9]+`)

// currentTime finds a time of which a guardrail says how far it is from the current one.
var currentTime = regexp.MustCompile(`(allowable (?:warning|failure) threshold) [0-9]+`)

// withoutChance removes from an error's text the parts that depend on Cassandra's address and age.
func withoutChance(message string) string {
	return nodeAddress.ReplaceAllString(javaDetail.ReplaceAllString(message, "$1"), "from /{node}")
}
