package grammar

//go:generate ./generate.sh
