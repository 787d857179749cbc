package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/server/wire"
)

// issue is one fault of a request, in OpenViking's form.
type issue struct {
	Loc     []string `json:"loc"`
	Message string   `json:"message"`
	Type    string   `json:"type"`
}

// issues collects the faults of one request.
type issues []issue

func (v *issues) add(loc []string, kind, format string, args ...any) {
	*v = append(*v, issue{Loc: loc, Message: fmt.Sprintf(format, args...), Type: kind})
}

// err is nil without faults; else a 400 that names the first in its message and all in its details.
func (v issues) err() error {
	if len(v) == 0 {
		return nil
	}
	return &wire.Failure{
		Kind: skald.KindInvalid, Bare: true, Field: v[0].Loc[len(v[0].Loc)-1],
		Message: "Invalid request parameters: " + strings.Join(v[0].Loc, ".") + ": " + v[0].Message,
		Details: map[string]any{"validation_errors": v},
	}
}

func invalid(loc []string, kind, format string, args ...any) error {
	var v issues
	v.add(loc, kind, format, args...)
	return v.err()
}

func inBody(path ...string) []string { return append([]string{"body"}, path...) }

// decode reads a JSON body into v. optional lets the body be empty.
func decode(r *http.Request, v any, optional bool) error {
	b, err := wire.ReadBody(r)
	if err != nil {
		return err
	}
	if err := askTelemetry(r, b); err != nil {
		return err
	}
	if optional && len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	return decodeAt(b, v, inBody())
}

// maxNesting is how deeply a body's lists and objects may be nested: what stood deeper in a message could not be read back by Python clients,
// whose decoder ends at about 1,000.
const maxNesting = 500

// decodeAt decodes a value that stands at loc of the request.
func decodeAt(b []byte, v any, loc []string) error {
	if !utf8.Valid(b) {
		return invalid(loc, "string_unicode", "the text is not valid UTF-8")
	}
	if n := message.Nesting(b); n > maxNesting {
		return invalid(loc, "json_invalid", "JSON decode error: %d lists and objects stand in each other, at most %d are taken", n, maxNesting)
	}
	err := json.Unmarshal(b, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		if wrong.Field != "" {
			loc = append(loc[:len(loc):len(loc)], strings.Split(wire.FieldPath(wrong.Field), ".")...)
		}
		return invalid(loc, "type_error", "expected %s, got %s", wire.TypeName(wrong), wrong.Value)
	}
	return invalid(loc, "json_invalid", "JSON decode error: %s", err)
}

// query reads query parameters and collects their faults.
type query struct {
	r *http.Request
	issues
}

func (q *query) text(name string) string { return strings.TrimSpace(q.r.URL.Query().Get(name)) }

func (q *query) required(name string) string {
	v := q.text(name)
	if v == "" {
		q.add([]string{"query", name}, "missing", "Field required")
	}
	return v
}

func (q *query) int(name string, byDefault, least, most int) int {
	v := q.text(name)
	if v == "" {
		return byDefault
	}
	n, err := strconv.Atoi(v)
	switch loc := []string{"query", name}; {
	case err != nil:
		q.add(loc, "int_parsing", "Input should be a valid integer")
	case n < least:
		q.add(loc, "greater_than_equal", "Input should be greater than or equal to %d", least)
	case n > most:
		q.add(loc, "less_than_equal", "Input should be less than or equal to %d", most)
	}
	return n
}

func (q *query) bool(name string) bool {
	switch strings.ToLower(q.text(name)) {
	case "", "0", "false", "no", "off", "f", "n":
		return false
	case "1", "true", "yes", "on", "t", "y":
		return true
	}
	q.add([]string{"query", name}, "bool_parsing", "Input should be a valid boolean")
	return false
}

// oneOf is a parameter with a closed set of values, the first of which is the default.
func (q *query) oneOf(name string, values ...string) string {
	v := q.text(name)
	if v == "" {
		return values[0]
	}
	for _, allowed := range values {
		if v == allowed {
			return v
		}
	}
	q.add([]string{"query", name}, "literal_error", "Input should be one of %s", strings.Join(values, ", "))
	return values[0]
}

// sessionID is the session id of the path: a safe identifier, a UUID in lower case.
func sessionID(r *http.Request) (string, error) {
	return safeSession(r.PathValue("id"), []string{"path", "session_id"})
}

func safeSession(id string, loc []string) (string, error) {
	if !skald.SafeID(id) {
		return "", invalid(loc, "value_error", "a session id has 1 to 128 letters, digits and _@.- only")
	}
	return skald.SessionID(id, ""), nil
}
