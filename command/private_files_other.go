//go:build !unix

package command

// privateFiles is left to the permissions of the folder.
func (c *console) privateFiles() {}
