// Package record turns structs into bytes and back, exactly. JSON is not used for stored state because it replaces broken UTF-8
// in strings (byte offsets into a stored text would move) and reformats raw JSON.
//
// Fields are written by name and without the zero ones, so that a field can be added, moved or dropped later. Supported are
// strings, integers, booleans, bytes, times, structs and slices of these; an empty slice comes back as nil, a time as UTC.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"time"
)

var errShort = errors.New("record: unexpected end of data")

var timeType = reflect.TypeFor[time.Time]()

// Encode writes v, a struct.
func Encode(v any) []byte { return appendValue(nil, reflect.ValueOf(v)) }

// Decode reads into v, a pointer to a zero struct.
func Decode(data []byte, v any) error {
	rest, err := readValue(data, reflect.ValueOf(v).Elem())
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("record: %d bytes left over", len(rest))
	}
	return err
}

func appendValue(b []byte, v reflect.Value) []byte {
	if v.Type() == timeType {
		return appendTime(b, v.Interface().(time.Time))
	}
	switch v.Kind() {
	case reflect.String:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...)
	case reflect.Int, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Slice:
		return appendSlice(b, v)
	case reflect.Struct:
		return appendStruct(b, v)
	}
	panic("record: cannot store a " + v.Type().String())
}

func appendTime(b []byte, t time.Time) []byte {
	return binary.AppendVarint(binary.AppendVarint(b, t.Unix()), int64(t.Nanosecond()))
}

func appendSlice(b []byte, v reflect.Value) []byte {
	b = binary.AppendUvarint(b, uint64(v.Len()))
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return append(b, v.Bytes()...)
	}
	for i := range v.Len() {
		b = appendValue(b, v.Index(i))
	}
	return b
}

// appendStruct writes name and length-prefixed value of each field that is set, and an empty name as the end.
func appendStruct(b []byte, v reflect.Value) []byte {
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0 {
			continue
		}
		name := v.Type().Field(i).Name
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
		value := appendValue(nil, f)
		b = append(binary.AppendUvarint(b, uint64(len(value))), value...)
	}
	return append(b, 0)
}

func readValue(b []byte, v reflect.Value) ([]byte, error) {
	if v.Type() == timeType {
		return readTime(b, v)
	}
	switch v.Kind() {
	case reflect.String:
		s, rest, err := readBytes(b)
		v.SetString(string(s))
		return rest, err
	case reflect.Int, reflect.Int64:
		n, rest, err := readVarint(b)
		v.SetInt(n)
		return rest, err
	case reflect.Bool:
		if len(b) == 0 {
			return nil, errShort
		}
		v.SetBool(b[0] == 1)
		return b[1:], nil
	case reflect.Slice:
		return readSlice(b, v)
	case reflect.Struct:
		return readStruct(b, v)
	}
	return nil, fmt.Errorf("record: cannot read a %s", v.Type())
}

func readTime(b []byte, v reflect.Value) ([]byte, error) {
	sec, b, err := readVarint(b)
	if err != nil {
		return nil, err
	}
	nano, b, err := readVarint(b)
	v.Set(reflect.ValueOf(time.Unix(sec, nano).UTC()))
	return b, err
}

func readSlice(b []byte, v reflect.Value) ([]byte, error) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		s, rest, err := readBytes(b)
		if len(s) > 0 {
			v.SetBytes(append([]byte(nil), s...))
		}
		return rest, err
	}
	n, b, err := readUvarint(b)
	if err != nil || n == 0 {
		return b, err
	}
	if n > uint64(len(b)) { // every element takes a byte at least
		return nil, errShort
	}
	v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
	for i := range int(n) {
		if b, err = readValue(b, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func readStruct(b []byte, v reflect.Value) ([]byte, error) {
	for {
		name, rest, err := readBytes(b)
		if err != nil || len(name) == 0 {
			return rest, err
		}
		value, rest, err := readBytes(rest)
		if err != nil {
			return nil, err
		}
		b = rest
		f := v.FieldByName(string(name))
		if !f.IsValid() {
			continue // a field of another version
		}
		if left, err := readValue(value, f); err != nil || len(left) > 0 {
			return nil, fmt.Errorf("record: field %s.%s is damaged", v.Type(), name)
		}
	}
}

func readUvarint(b []byte) (uint64, []byte, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, nil, errShort
	}
	return n, b[size:], nil
}

func readVarint(b []byte) (int64, []byte, error) {
	n, size := binary.Varint(b)
	if size <= 0 {
		return 0, nil, errShort
	}
	return n, b[size:], nil
}

func readBytes(b []byte) (value, rest []byte, err error) {
	n, b, err := readUvarint(b)
	if err != nil || n > uint64(len(b)) {
		return nil, nil, errShort
	}
	return b[:n], b[n:], nil
}
