package guardrail

import (
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// Check applies guardrails to one request, and collects its warnings. A nil Check applies none.
type Check struct {
	Settings *Settings
	Warnings []string
}

// Reads reports whether some guardrail of SELECT is on.
func (c *Check) Reads() bool { return c != nil && c.Settings.reads }

// Writes reports whether some guardrail of modifications is on.
func (c *Check) Writes() bool { return c != nil && c.Settings.writes }

// Values reports whether some guardrail of the values that modifications write is on.
func (c *Check) Values() bool { return c != nil && c.Settings.values }

// guard is a guardrail as messages name it, with the reason for it, which may be empty.
type guard struct{ name, reason string }

// message is the text of a warning or error of a guardrail.
func (g guard) message(text string) string {
	m := "Guardrail " + g.name + " violated: " + text
	switch {
	case g.reason == "":
		return m
	case strings.HasSuffix(m, "."):
		return m + " " + g.reason
	}
	return m + ". " + g.reason
}

// warn adds a warning.
func (c *Check) warn(g guard, text string) { c.Warnings = append(c.Warnings, g.message(text)) }

// refuse makes the error of a guardrail. The client gets its text as a warning too.
func (c *Check) refuse(g guard, text string) error {
	c.warn(g, text)
	return cqlerr.Invalidf("%s", g.message(text))
}

// wording makes the text about a value that is over a limit, which is that of warnings or that of refusals.
type wording func(limit int64, warning bool) string

// above refuses values above a threshold, or warns of them.
func (c *Check) above(g guard, t Threshold, value int64, text wording) error {
	switch {
	case t.Fail > 0 && value > t.Fail:
		return c.refuse(g, text(t.Fail, false))
	case t.Warn > 0 && value > t.Warn:
		c.warn(g, text(t.Warn, true))
	}
	return nil
}

// below refuses values below a threshold, or warns of them.
func (c *Check) below(g guard, t Threshold, value int64, text wording) error {
	switch {
	case t.Fail > 0 && value < t.Fail:
		return c.refuse(g, text(t.Fail, false))
	case t.Warn > 0 && value < t.Warn:
		c.warn(g, text(t.Warn, true))
	}
	return nil
}

// kind names a limit as most texts do.
func kind(warning bool) string {
	if warning {
		return "warning"
	}
	return "failure"
}

// allow refuses a feature that is not allowed.
func (c *Check) allow(g guard, allowed bool, feature string) error {
	if allowed {
		return nil
	}
	return c.refuse(g, feature+" is not allowed")
}

// allowOrWarn refuses a feature that is not allowed. It warns of an allowed one if warnings are on.
func (c *Check) allowOrWarn(g guard, allowed, warned bool, feature string) error {
	if err := c.allow(g, allowed, feature); err != nil {
		return err
	}
	if warned {
		c.warn(g, feature+" is not recommended")
	}
	return nil
}

// among are the values of a list that are in another.
func among[T comparable](values, list []T) (found []T) {
	for _, v := range values {
		for _, l := range list {
			if v == l {
				found = append(found, v)
				break
			}
		}
	}
	return found
}
