package analysis

import (
	"slices"
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"

	"github.com/cqld/cqld/cql/schema"
)

// stemmers has the stemmer for each language, named by the first two letters of a locale.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"da": danish.Stem, "de": german.Stem, "en": english.Stem, "es": spanish.Stem, "fr": french.Stem,
	"hu": hungarian.Stem, "it": italian.Stem, "nl": dutch.Stem, "no": norwegian.Stem, "pt": portuguese.Stem,
	"ro": romanian.Stem, "ru": russian.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
}

// stem returns the stem of a word as Cassandra's stemmers, of Lucene 9.7, do. Words of a language without a stemmer
// stay unchanged.
func stem(language, word string) string {
	makeStem, ok := stemmers[language]
	if !ok {
		return word
	}
	plain, strange := hideStrange(language, word)
	if language == schema.French {
		env := snowballstem.NewEnv(markFrench(plain))
		makeStem(env)
		return showStrange(frenchMarks.Replace(env.Current()), strange)
	}
	env := snowballstem.NewEnv(plain)
	if !makeStem(env) {
		return word
	}
	return showStrange(env.Current(), strange)
}

// hidden replaces a UTF-16 unit that is not a letter of the language.
const hidden = '\x01'

// hideStrange replaces by a byte each UTF-16 unit of characters that our stemmers count differently from Lucene's:
// characters of two units, and for Dutch, where bytes are counted, characters of two bytes that are not Dutch
// letters.
func hideStrange(language, word string) (plain string, strange []rune) {
	isStrange := func(r rune) bool {
		return r > 0xffff || r == hidden || language == schema.Dutch && r > 0x7f && !strings.ContainsRune("äëïöüáéíóúè", r)
	}
	if !strings.ContainsFunc(word, isStrange) {
		return word, nil
	}
	var b strings.Builder
	for _, r := range word {
		if !isStrange(r) {
			b.WriteRune(r)
			continue
		}
		strange = append(strange, r)
		b.WriteByte(hidden)
		if r > 0xffff {
			b.WriteByte(hidden)
		}
	}
	return b.String(), strange
}

// showStrange restores the characters that hideStrange replaced.
func showStrange(stem string, strange []rune) string {
	if len(strange) == 0 {
		return stem
	}
	var b strings.Builder
	skip := false
	for _, r := range stem {
		switch {
		case r != hidden:
			b.WriteRune(r)
		case skip:
			skip = false
		default:
			b.WriteRune(strange[0])
			skip = strange[0] > 0xffff
			strange = strange[1:]
		}
	}
	return b.String()
}

// frenchMarks removes the marks of markFrench that the stemmer left. Lucene's treats each H as a mark.
var frenchMarks = strings.NewReplacer("He", "ë", "Hi", "ï", "H", "")

// markFrench marks letters that are not vowels in their position, and the two with a diaeresis, which our French
// stemmer does not handle.
func markFrench(word string) string {
	const vowels = "aeiouyâàëéêèïîôûù"
	letters := []rune(word)
	at := func(i int) rune {
		if i < len(letters) {
			return letters[i]
		}
		return 0
	}
	vowel := func(i int) bool { return strings.ContainsRune(vowels, at(i)) }
	for i := 0; i < len(letters); {
		switch next := at(i + 1); {
		case vowel(i) && (next == 'y' || (next == 'u' || next == 'i') && vowel(i+2)), at(i) == 'q' && next == 'u':
			letters[i+1] += 'A' - 'a'
		case at(i) == 'y' && vowel(i+1):
			letters[i] = 'Y'
		case at(i) == 'ë':
			letters = slices.Replace(letters, i, i+1, 'H', 'e')
		case at(i) == 'ï':
			letters = slices.Replace(letters, i, i+1, 'H', 'i')
		default:
			i++
		}
	}
	return string(letters)
}
