package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	skald "github.com/skald-engine/skald"
)

// ReadBody reads the whole body, within the limit that the server has set.
func ReadBody(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return b, nil
	case errors.As(err, &large):
		return nil, TooLarge(large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, skald.E("http.read", skald.KindDeadline, "the body did not arrive in time")
	}
	return nil, &Failure{Kind: skald.KindInvalid, Field: "body", Message: "the body could not be read"}
}

// Decode reads a JSON body into v. json.RawMessage fields keep the body's bytes. Members that v does not know are ignored: an
// adapter one version ahead may send some.
func Decode(r *http.Request, v any) error {
	b, err := ReadBody(r)
	if err != nil {
		return err
	}
	return DecodeBytes(b, v)
}

// DecodeBytes is Decode for a body at hand.
func DecodeBytes(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return skald.Invalid("http.decode", FieldPath(wrong.Field), "expected %s, got %s", TypeName(wrong), wrong.Value)
	}
	return NotJSON(err)
}

// FieldPath is the path of a field as the caller wrote it: without the names of embedded Go structs.
func FieldPath(path string) string {
	var kept []string
	for _, p := range strings.Split(path, ".") {
		if p != "" && !startsUpper(p) {
			kept = append(kept, p)
		}
	}
	if len(kept) == 0 {
		return "body"
	}
	return strings.Join(kept, ".")
}

func startsUpper(p string) bool { return p != "" && p[0] >= 'A' && p[0] <= 'Z' }

// TypeName is what a caller calls the type that a field wants.
func TypeName(e *json.UnmarshalTypeError) string {
	if e.Type == nil {
		return "another type"
	}
	switch kind := e.Type.Kind().String(); {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "an integer"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "bool":
		return "a boolean"
	case kind == "string":
		return "a string"
	case kind == "slice":
		return "a list"
	case kind == "struct", kind == "map":
		return "an object"
	default:
		return fmt.Sprintf("a %s", kind)
	}
}
