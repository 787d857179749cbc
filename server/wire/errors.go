package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	skald "github.com/skald-engine/skald"
)

// answer is how a kind of error looks from outside.
type answer struct {
	status int
	code   string // OpenViking's code
}

// answers is the one table from kinds to HTTP statuses and OpenViking codes; both APIs use it.
var answers = map[skald.Kind]answer{
	skald.KindInvalid:     {http.StatusBadRequest, "INVALID_ARGUMENT"},
	skald.KindNotFound:    {http.StatusNotFound, "NOT_FOUND"},
	skald.KindExists:      {http.StatusConflict, "ALREADY_EXISTS"},
	skald.KindConflict:    {http.StatusConflict, "CONFLICT"},
	skald.KindPermission:  {http.StatusForbidden, "PERMISSION_DENIED"},
	skald.KindUnauth:      {http.StatusUnauthorized, "UNAUTHENTICATED"},
	skald.KindUnavailable: {http.StatusServiceUnavailable, "UNAVAILABLE"},
	skald.KindBudget:      {http.StatusPreconditionFailed, "FAILED_PRECONDITION"},
	skald.KindUnsupported: {http.StatusNotImplemented, "UNIMPLEMENTED"},
	skald.KindDeadline:    {http.StatusGatewayTimeout, "DEADLINE_EXCEEDED"},
	skald.KindInternal:    {http.StatusInternalServerError, "INTERNAL"},
}

// answerTo looks a kind up; a kind that the table does not know is a fault of ours.
func answerTo(kind skald.Kind) answer {
	if a, ok := answers[kind]; ok {
		return a
	}
	return answers[skald.KindInternal]
}

// Outside is how a kind of error looks from outside: HTTP status and OpenViking code.
func Outside(kind skald.Kind) (status int, code string) {
	a := answerTo(kind)
	return a.status, a.code
}

// Failure is an error whose answer differs from the table's row for its kind, or carries details. Zero fields take the row's
// values.
type Failure struct {
	Kind    skald.Kind
	Status  int
	Code    string
	Field   string
	Message string
	Details any
	Bare    bool // OpenViking's short envelope, as on validation errors: no null members
}

func (f *Failure) Error() string { return f.Message }

// NotJSON says that a body is no JSON at all.
func NotJSON(err error) *Failure {
	return &Failure{Kind: skald.KindInvalid, Field: "body", Message: "the body is not valid JSON: " + err.Error()}
}

// TooLarge says that a body is over the limit.
func TooLarge(limit int64) *Failure {
	return &Failure{Kind: skald.KindInvalid, Status: http.StatusRequestEntityTooLarge, Field: "body",
		Message: fmt.Sprintf("the body is larger than %d bytes", limit)}
}

// MethodNotAllowed is OpenViking's answer to a known path with another method.
func MethodNotAllowed(method string) *Failure {
	return &Failure{Kind: skald.KindUnsupported, Status: http.StatusMethodNotAllowed, Code: "UNKNOWN", Bare: true,
		Message: "method " + method + " is not allowed here"}
}

// Classify gives any error its kind: a context's end is a deadline or an interruption, not a fault of ours.
func Classify(err error) *skald.Error {
	var e *skald.Error
	switch {
	case errors.As(err, &e):
		return outer(err, e)
	case errors.Is(err, context.DeadlineExceeded):
		return &skald.Error{Kind: skald.KindDeadline, Err: errors.New("the time for this call is over")}
	case errors.Is(err, context.Canceled):
		return &skald.Error{Kind: skald.KindUnavailable, Err: errors.New("the call was interrupted")}
	}
	return &skald.Error{Kind: skald.KindInternal, Err: err}
}

// outer keeps the text that was wrapped around e.
func outer(err error, e *skald.Error) *skald.Error {
	if err == error(e) {
		return e
	}
	return &skald.Error{Kind: e.Kind, Field: e.Field, Err: err}
}

// cause is the message of e without the parts that are sent as members of their own.
func cause(e *skald.Error) string {
	if e.Err == nil {
		return string(e.Kind)
	}
	return e.Err.Error()
}
