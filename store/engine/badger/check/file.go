package check

import "path/filepath"

// File checks a table or a value log. After each MiB it rests, rest times as long as it worked.
func File(path string, rest int) error {
	if filepath.Ext(path) != ValueLog {
		_, err := checkTable(path, true, rest)
		return err
	}
	s, err := checkValueLog(path, true, rest)
	if err == nil && s.rest {
		err = damaged(path, "it cannot be read from byte %d on", s.end)
	}
	return err
}
