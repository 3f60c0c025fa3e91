package parser

import "strings"

// checkBean refuses what is no name of an MBean: domain:key=value,key=value. In the plural form it must be a
// pattern.
func (b *builder) checkBean(name string, plural bool) {
	switch {
	case name == "":
		b.fail("Empty JMX object name supplied")
	case name == "*:*":
		b.fail("Please use ALL MBEANS instead of wildcard pattern")
	}
	pattern, ok := parseBean(name)
	switch {
	case !ok:
		b.fail("%s is not a valid JMX object name", name)
	case plural && !pattern:
		b.fail("Plural form used, but non-pattern JMX object name specified (%s)", name)
	}
}

// parseBean reports whether a name is valid, and whether it stands for several.
func parseBean(name string) (pattern, ok bool) {
	if name == "" {
		return true, true // is *:*
	}
	domain, properties, found := strings.Cut(name, ":")
	if !found || properties == "" || strings.Contains(domain, "\n") {
		return false, false
	}
	pattern = strings.ContainsAny(domain, "*?")
	seen := map[string]bool{}
	for {
		if rest, star := strings.CutPrefix(properties, "*"); star && (rest == "" || rest[0] == ',') {
			if seen["*"] || rest == "," {
				return false, false
			}
			seen["*"], pattern = true, true
			if rest == "" {
				return pattern, true
			}
			properties = rest[1:]
			continue
		}
		key, value, found := strings.Cut(properties, "=")
		if !found || key == "" || strings.ContainsAny(key, ",:*?\n") || seen["="+key] {
			return false, false
		}
		seen["="+key] = true
		size, wild, valid := beanValue(value)
		if !valid {
			return false, false
		}
		pattern = pattern || wild
		if size == len(value) {
			return pattern, true
		}
		if properties = value[size+1:]; properties == "" { // behind the comma
			return false, false
		}
	}
}

// beanValue is how long the value at the beginning of a text is, and whether it has a wildcard.
func beanValue(text string) (size int, wild, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		size = strings.IndexByte(text, ',')
		if size < 0 {
			size = len(text)
		}
		value := text[:size]
		return size, strings.ContainsAny(value, "*?"), value != "" && !strings.ContainsAny(value, "=:\"\n")
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
			if i == len(text) || !strings.ContainsRune(`\"?*n`, rune(text[i])) {
				return 0, false, false
			}
		case '*', '?':
			wild = true
		case '\n':
			return 0, false, false
		case '"':
			return i + 1, wild, i+1 == len(text) || text[i+1] == ','
		}
	}
	return 0, false, false
}
