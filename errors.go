package skald

import (
	"errors"
	"fmt"
	"strings"
)

// Kind classifies an error. The values are stable on the wire: one table in each transport maps them to an HTTP status,
// an OpenViking code, an exit code.
type Kind string

// The kinds of errors.
const (
	KindInvalid     Kind = "invalid"     // the caller's input is wrong; repeating it does not help
	KindNotFound    Kind = "not_found"   // the named thing does not exist for this identity
	KindExists      Kind = "exists"      // the thing exists already
	KindConflict    Kind = "conflict"    // a concurrent change won; read again and repeat
	KindPermission  Kind = "permission"  // the identity may not do this
	KindUnauth      Kind = "unauth"      // no identity, or a wrong key
	KindUnavailable Kind = "unavailable" // a passing fault (store busy, disk full, daemon stopping); repeat later
	KindBudget      Kind = "budget_too_small"
	KindUnsupported Kind = "unsupported" // known, but not built
	KindDeadline    Kind = "deadline"    // the time for this call is over
	KindInternal    Kind = "internal"    // a fault of Skald
)

// Error says which operation failed, on what, of which kind, and why.
type Error struct {
	Op    string // the operation, for example "engine.commit_turn"
	URI   string // what it was about; may be empty
	Field string // the input field at fault, for KindInvalid
	Kind  Kind
	Err   error // the cause, or the message
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	if e.URI != "" {
		b.WriteString(e.URI + ": ")
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	if e.Err != nil {
		b.WriteString(e.Err.Error())
	} else {
		b.WriteString(string(e.Kind))
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// E makes an Error of the given kind.
func E(op string, kind Kind, format string, args ...any) *Error {
	return &Error{Op: op, Kind: kind, Err: fmt.Errorf(format, args...)}
}

// Invalid makes a KindInvalid error that names the field.
func Invalid(op, field, format string, args ...any) *Error {
	return &Error{Op: op, Field: field, Kind: KindInvalid, Err: fmt.Errorf(format, args...)}
}

// NotFound makes a KindNotFound error for a URI or id.
func NotFound(op, what string) *Error {
	return &Error{Op: op, URI: what, Kind: KindNotFound, Err: errors.New("not found")}
}

// KindOf returns the kind of the outermost Error in err's chain, KindInternal for any other error and "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindInternal
}
