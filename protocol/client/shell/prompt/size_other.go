//go:build !unix

package prompt

import "os"

// setSize does nothing: consoles of other systems have a size.
func setSize() {}

// sizeSignals is empty: there is no signal about the size.
var sizeSignals []os.Signal

// keepKeys does nothing on these systems.
func keepKeys() {}
