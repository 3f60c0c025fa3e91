package analysis

import (
	"strings"
	"testing"
)

// The stems are those of the stemmers in Cassandra 5.0.8's Lucene.
func TestStem(t *testing.T) {
	for language, words := range map[string]string{
		"":   "running running",
		"da": "undersøgelserne undersøg",
		"de": "häusern haus aufeinanderfolgenden aufeinanderfolg ü𝒜er u𝒜",
		"en": "running run generalizations general can't can't 𝒜y 𝒜i RUNNING RUNNING",
		"es": "cantadas cant",
		"fi": "kirjat kirjat",
		"fr": "mangeaient mang aiguë aigu naïves naïv hayon hayon éueéocièreillH éueéocièreill aië aië yîéië yîei ëqçé ëqc",
		"hu": "babakocsijaikat babakocsi",
		"it": "abbandonata abbandon",
		"nl": "lichamelijke licham öñheden oñheden oıe oıe",
		"no": "havnedistriktenes havnedistrikt i𝒜erte i𝒜er",
		"pt": "quilométricas quilométr",
		"ro": "abruptă abrupt",
		"ru": "красивые красив",
		"sv": "jaktkarlarne jaktkarl u𝒜nn u𝒜n",
		"tr": "evlerimizdekiler evlerimizdekiler nıa𝒜ı nıa𝒜ı kitaplarımdan kitap",
	} {
		words := strings.Fields(words)
		for ; len(words) > 1; words = words[2:] {
			if got := stem(language, words[0]); got != words[1] {
				t.Errorf("%s: the stem of %s is %s, want %s", language, words[0], got, words[1])
			}
		}
	}
}
