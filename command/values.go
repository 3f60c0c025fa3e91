package command

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cqld/cqld/internal/suggest"
	"github.com/cqld/cqld/store/engine/disk"
)

// choice is the value of a flag that takes one of a few words. Shells complete them.
type choice struct {
	to    *string
	words []string
}

// choiceFlag adds a flag that takes one of a few words.
func choiceFlag(f *pflag.FlagSet, to *string, name, byDefault string, words []string, usage string) {
	*to = byDefault
	f.Var(choice{to, words}, name, usage)
}

// String implements pflag.Value.
func (c choice) String() string { return *c.to }

// Type implements pflag.Value.
func (c choice) Type() string { return "word" }

// Set implements pflag.Value.
func (c choice) Set(text string) error {
	text = strings.ToLower(text)
	if slices.Contains(c.words, text) {
		*c.to = text
		return nil
	}
	if near := suggest.Nearest(text, c.words); near != "" {
		return fmt.Errorf("did you mean %s? It takes %s", near, oneOf(c.words))
	}
	return errors.New("want " + oneOf(c.words))
}

// oneOf lists alternatives.
func oneOf(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// size is the value of a flag that takes a number of bytes. An empty text leaves the default.
type size[T int | int64] struct {
	to       *T
	min, max T
	want     string // the accepted range, for errors
	text     string // as given
}

// sizeFlag adds a flag that takes a number of bytes.
func sizeFlag[T int | int64](f *pflag.FlagSet, to *T, name, byDefault string, minSize, maxSize T, want, usage string) {
	s := &size[T]{to: to, min: minSize, max: maxSize, want: want}
	if err := s.Set(byDefault); err != nil {
		panic(err)
	}
	f.Var(s, name, usage)
}

// String implements pflag.Value.
func (s *size[T]) String() string { return s.text }

// Type implements pflag.Value.
func (s *size[T]) Type() string { return "size" }

// Set implements pflag.Value.
func (s *size[T]) Set(text string) error {
	if text == "" {
		return nil
	}
	n, err := parseBytes(text)
	if err != nil || n < int64(s.min) || n > int64(s.max) {
		return errors.New("want a number of bytes " + s.want)
	}
	*s.to, s.text = T(n), text
	return nil
}

// parseBytes parses a number of bytes, with or without one of the units of GOMEMLIMIT.
func parseBytes(text string) (int64, error) {
	shift := 0
	for i, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			text, shift = number, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(text, "B"), 10, 64)
	if err == nil && (n < 0 || n > math.MaxInt64>>shift) {
		err = strconv.ErrRange
	}
	return n << shift, err
}

// diskReserve is the value of --disk-reserve: bytes, or a percentage of the volume.
type diskReserve struct{ disk.Reserve }

// String implements pflag.Value.
func (*diskReserve) String() string { return "" }

// Type implements pflag.Value.
func (*diskReserve) Type() string { return "size" }

// Set implements pflag.Value.
func (r *diskReserve) Set(text string) (err error) {
	if text == "" {
		return nil
	}
	if number, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !(percent > 0 && percent <= 100) {
			return errors.New("want a share from 0% to 100%")
		}
		r.Reserve = disk.Reserve{Percent: percent}
		return nil
	}
	n, err := parseBytes(text)
	if err != nil {
		return errors.New("want bytes, like 10GiB, or a share, like 5%")
	}
	r.Reserve = disk.Reserve{Bytes: n}
	return nil
}

// switchTLS is the value of --tls of commands that connect to a server. It also takes the values of --tls of serve,
// because a container's health check has the environment of its server.
type switchTLS bool

// String implements pflag.Value.
func (s *switchTLS) String() string { return "" }

// Type implements pflag.Value.
func (s *switchTLS) Type() string { return "bool" }

// Set implements pflag.Value.
func (s *switchTLS) Set(text string) error {
	switch text {
	case "true", "required":
		*s = true
	case "false", "optional":
		*s = false
	default:
		return errors.New("want true or false")
	}
	return nil
}

// assignments is the value of --set: name=value, or a list of them separated by semicolons.
type assignments map[string]string

// String implements pflag.Value.
func (a *assignments) String() string { return "" }

// Type implements pflag.Value.
func (a *assignments) Type() string { return "name=value" }

// Set implements pflag.Value.
func (a *assignments) Set(text string) error {
	for _, one := range strings.Split(text, ";") {
		name, value, ok := strings.Cut(one, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return fmt.Errorf("%q: want NAME=VALUE", one)
		}
		if *a == nil {
			*a = assignments{}
		}
		(*a)[name] = strings.TrimSpace(value)
	}
	return nil
}

// setDefaults is Set without changing names that are set.
func (a *assignments) setDefaults(text string) error {
	given := *a
	*a = nil
	err := a.Set(text)
	if err == nil {
		maps.Copy(*a, given)
	}
	return err
}
