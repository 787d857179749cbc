package openviking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/skald-engine/skald"
)

// Fault is what a server's error answer says.
type Fault struct {
	Status  int    // HTTP
	Code    string // OpenViking's, for example ALREADY_EXISTS
	Message string
}

func (f *Fault) Error() string {
	text := fmt.Sprintf("HTTP %d", f.Status)
	if f.Code != "" {
		text += " " + f.Code
	}
	if f.Message != "" {
		text += ": " + f.Message
	}
	return text
}

// Unclear reports an error that leaves open whether the server has done what was asked: no answer, a broken one, or an error of the server
// (or of something before it) in the middle of the work. What the server refuses (4xx) it has not done.
func Unclear(err error) bool {
	var fault *Fault
	if !errors.As(err, &fault) {
		return err != nil && skald.KindOf(err) != skald.KindInvalid
	}
	return fault.Status >= 500 || fault.Status == http.StatusRequestTimeout || fault.Status == http.StatusTooManyRequests
}

// Down reports an error that any other call would meet now as well: an unreachable or overloaded server, a wrong key.
func Down(err error) bool {
	if fault := AsFault(err); fault != nil && fault.Status == http.StatusInternalServerError {
		return false // it may be this request's own
	}
	switch skald.KindOf(err) {
	case skald.KindUnavailable, skald.KindUnauth, skald.KindPermission, skald.KindDeadline:
		return true
	}
	return false
}

// unclear is the error of a call without a whole answer.
func (c *Client) unclear(method, path string, cause error) error {
	kind := skald.KindUnavailable
	if errors.Is(cause, context.DeadlineExceeded) {
		kind = skald.KindDeadline
	}
	return &skald.Error{Op: "openviking", URI: c.base, Kind: kind, Err: fmt.Errorf("%s %s: no whole answer (%w): see that the server runs "+
		"and that store_url is its address; nothing is lost, it is tried again", method, path, cause)}
}

// refused is the error of an answer that is none of success.
func (c *Client) refused(method, path string, status int, body []byte) error {
	var answer struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	fault := &Fault{Status: status}
	if json.Unmarshal(body, &answer) == nil {
		fault.Code, fault.Message = answer.Error.Code, answer.Error.Message
	}
	kind, advice := judge(fault)
	return &skald.Error{Op: "openviking", URI: c.base, Kind: kind, Err: fmt.Errorf("%s %s: %w%s", method, path, fault, advice)}
}

// judge gives an error answer its kind, and says what to do about it.
func judge(f *Fault) (kind skald.Kind, advice string) {
	switch {
	case f.Status == http.StatusUnauthorized:
		return skald.KindUnauth, " (give the key of a user of that server as store_key_env or store_key)"
	case f.Status == http.StatusForbidden && strings.Contains(f.Message, "ROOT"):
		return skald.KindPermission, " (the root key may not read or write data: give a user's key, or run the server in trusted mode and set store_account and store_user)"
	case f.Status == http.StatusForbidden:
		return skald.KindPermission, " (the key's user may not do this)"
	case f.Status == http.StatusNotFound:
		return skald.KindNotFound, ""
	case f.Code == "ALREADY_EXISTS":
		return skald.KindExists, ""
	case f.Status == http.StatusConflict:
		return skald.KindConflict, " (the session is locked; it is tried again)"
	case f.Status == http.StatusPreconditionFailed:
		return skald.KindConflict, " (the server is not ready for this user: a deletion or a migration may be under way)"
	case f.Status == http.StatusMethodNotAllowed || f.Status == http.StatusNotImplemented:
		return skald.KindUnsupported, ""
	case f.Status == http.StatusTooManyRequests || f.Status == http.StatusRequestTimeout:
		return skald.KindUnavailable, " (the server is overloaded; it is tried again)"
	case f.Status >= 500:
		return skald.KindUnavailable, " (a fault of the server: see its log; it is tried again)"
	}
	return skald.KindInvalid, ""
}
