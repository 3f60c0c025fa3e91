package cqltest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/cqld/cqld/cql/types"
)

// decoder puts a value into a variable, which is zero; nil leaves it so.
type decoder func(b []byte, to reflect.Value) error

// decoderOf decodes values of a CQL type to a Go type.
func decoderOf(t types.Type, of reflect.Type) (decoder, error) {
	if of.Kind() == reflect.Interface && of.NumMethod() == 0 {
		return func(b []byte, to reflect.Value) error {
			if v := decode(t, b); v != nil {
				to.Set(reflect.ValueOf(v))
			}
			return nil
		}, nil
	}
	if elem := deref(of); elem != of {
		d, err := decoderOf(t, elem)
		return func(b []byte, to reflect.Value) error {
			if b == nil || len(b) == 0 && types.EmptyIsNull(t) {
				return nil
			}
			to.Set(reflect.New(elem))
			return d(b, to.Elem())
		}, err
	}
	switch t := t.(type) {
	case *types.List:
		if of.Kind() == reflect.Slice {
			return sliceDecoder(t.Elem, of)
		}
	case *types.Set:
		switch {
		case of.Kind() == reflect.Slice:
			return sliceDecoder(t.Elem, of)
		case isSet(of):
			return setDecoder(t.Elem, of)
		}
	case *types.Map:
		if of.Kind() == reflect.Map {
			return mapDecoder(t, of)
		}
	}
	if !holds(t, of) {
		return nil, fmt.Errorf("a Go %s is no %s", of, t)
	}
	return func(b []byte, to reflect.Value) error {
		if v := decode(t, b); v != nil {
			return assign(to, v, b)
		}
		return nil
	}, nil
}

func sliceDecoder(elem types.Type, of reflect.Type) (decoder, error) {
	d, err := decoderOf(elem, of.Elem())
	return func(b []byte, to reflect.Value) error {
		if b != nil {
			to.Set(reflect.MakeSlice(of, 0, 0))
		}
		for e := range types.Elements(b) {
			v := reflect.New(of.Elem()).Elem()
			if err := d(e, v); err != nil {
				return err
			}
			to.Set(reflect.Append(to, v))
		}
		return nil
	}, err
}

func setDecoder(elem types.Type, of reflect.Type) (decoder, error) {
	d, err := decoderOf(elem, of.Key())
	return func(b []byte, to reflect.Value) error {
		if b != nil {
			to.Set(reflect.MakeMap(of))
		}
		for e := range types.Elements(b) {
			k := reflect.New(of.Key()).Elem()
			if err := d(e, k); err != nil {
				return err
			}
			to.SetMapIndex(k, reflect.Zero(of.Elem()))
		}
		return nil
	}, err
}

func mapDecoder(t *types.Map, of reflect.Type) (decoder, error) {
	key, err := decoderOf(t.Key, of.Key())
	value, valueErr := decoderOf(t.Value, of.Elem())
	return func(b []byte, to reflect.Value) error {
		if b != nil {
			to.Set(reflect.MakeMap(of))
		}
		for k, v := range types.Entries(b) {
			toKey, toValue := reflect.New(of.Key()).Elem(), reflect.New(of.Elem()).Elem()
			if err := errors.Join(key(k, toKey), value(v, toValue)); err != nil {
				return err
			}
			to.SetMapIndex(toKey, toValue)
		}
		return nil
	}, errors.Join(err, valueErr)
}

// holds reports whether assign can put values of a CQL type into a Go type.
func holds(t types.Type, of reflect.Type) bool {
	switch t {
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		return of.Kind() >= reflect.Int && of.Kind() <= reflect.Int64 && of != durationType
	case types.Float, types.Double:
		return of.Kind() == reflect.Float64 || of.Kind() == reflect.Float32 && t == types.Float
	case types.Boolean:
		return of.Kind() == reflect.Bool
	case types.Text, types.ASCII, types.Decimal, types.Duration:
		return of.Kind() == reflect.String
	case types.UUID, types.TimeUUID:
		return of.Kind() == reflect.String || of.Kind() == reflect.Array && isBytes(of) && of.Len() == 16
	case types.Blob:
		return of.Kind() == reflect.Slice && isBytes(of)
	case types.VarInt:
		return of == bigIntType
	case types.Timestamp, types.Date:
		return of == timeType
	case types.Time:
		return of == durationType
	case types.Inet:
		return of == addrType || of == ipType
	}
	return false
}

// assign puts a value in the form of Rows.Values into a variable. b are the bytes of the value.
func assign(to reflect.Value, v any, b []byte) error {
	switch from := reflect.ValueOf(v); to.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32:
		if to.OverflowInt(from.Int()) {
			return fmt.Errorf("a Go %s cannot hold %d", to.Type(), from.Int())
		}
		to.SetInt(from.Int())
	case reflect.Array:
		reflect.Copy(to, reflect.ValueOf(b))
	case reflect.Slice:
		to.SetBytes(bytes.Clone(b)) // of a blob or an address
	default:
		to.Set(from.Convert(to.Type()))
	}
	return nil
}
