package files

import "errors"

// ErrInUse says that another process has a folder open.
var ErrInUse = errors.New("it is in use by another process")
