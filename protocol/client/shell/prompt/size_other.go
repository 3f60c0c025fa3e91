//go:build !unix

package prompt

// setSize does nothing: consoles of other systems have a size.
func setSize() {}
