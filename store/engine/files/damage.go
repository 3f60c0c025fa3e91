package files

// Damage is what is wrong with a file of a folder.
type Damage struct {
	Name string // of the file
	What string // is wrong with it
}
