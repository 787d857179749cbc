package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	skald "github.com/skald-engine/skald"
)

// EnginePrefix is where /engine/v1 lives; errors below it have its form, all others OpenViking's.
const EnginePrefix = "/engine/"

// WriteJSON answers with a JSON document.
func WriteJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// The caller is gone when this fails; there is nobody to tell.
	_, _ = w.Write(body)
}

// WriteValue answers 200 with v, or with the error of encoding it.
func WriteValue(w http.ResponseWriter, r *http.Request, v any) {
	body, err := Encode(v)
	if err != nil {
		WriteError(w, r, skald.E("http.encode", skald.KindInternal, "%w", err))
		return
	}
	WriteJSON(w, http.StatusOK, body)
}

// WriteError answers with an error, in the form of the API that was called.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	f, e := explain(err)
	write := writeOpenViking
	if strings.HasPrefix(r.URL.Path, EnginePrefix) {
		write = writeEngine
	}
	write(w, f, e)
}

// explain fills a failure from the table.
func explain(err error) (Failure, *skald.Error) {
	var f *Failure
	var e *skald.Error
	if !errors.As(err, &f) {
		e = Classify(err)
		f = &Failure{Kind: e.Kind, Field: e.Field, Message: cause(e)}
		f.Code, f.Details = special(e)
	} else {
		e = &skald.Error{Kind: f.Kind, Field: f.Field, Err: f}
	}
	full := *f
	row := answerTo(f.Kind)
	if full.Status == 0 {
		full.Status = row.status
	}
	if full.Code == "" {
		full.Code = row.code
	}
	return full, e
}

// special gives the codes and details that OpenViking has beside the table's.
func special(e *skald.Error) (code string, details any) {
	switch {
	case e.Kind == skald.KindInvalid && e.Field == "uri" && strings.HasPrefix(e.Op, "uri."):
		return "INVALID_URI", map[string]any{"uri": e.URI, "reason": cause(e)}
	case e.Kind == skald.KindPermission && e.URI != "":
		return "", map[string]any{"resource": e.URI}
	case e.Kind == skald.KindNotFound && e.URI != "":
		return "", map[string]any{"resource": e.URI, "type": "resource"}
	case e.Field != "":
		return "", map[string]any{"field": e.Field}
	}
	return "", nil
}

// EngineError is an error of /engine/v1: the kind is for programs, the rest for people.
type EngineError struct {
	Kind    skald.Kind `json:"kind"`
	Message string     `json:"message"`
	Field   string     `json:"field,omitempty"`
	Op      string     `json:"op,omitempty"`
	URI     string     `json:"uri,omitempty"`
}

func writeEngine(w http.ResponseWriter, f Failure, e *skald.Error) {
	body, err := Encode(map[string]EngineError{"error": {f.Kind, f.Message, f.Field, e.Op, e.URI}})
	if err != nil {
		body = []byte(`{"error":{"kind":"internal","message":"the error could not be encoded"}}`)
	}
	WriteJSON(w, f.Status, body)
}

type openVikingError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details"`
}

func writeOpenViking(w http.ResponseWriter, f Failure, e *skald.Error) {
	if f.Details == nil {
		f.Details = struct{}{}
	}
	message := f.Message
	switch {
	case f.Code == "INVALID_URI":
		message = "Invalid URI: " + e.URI + " (" + message + ")"
	case f.Kind == skald.KindPermission && e.URI != "":
		message = "Access denied for " + e.URI + ": " + message
	case f.Kind == skald.KindNotFound && e.URI != "":
		message = e.URI + ": " + message
	}
	inner, err := Encode(openVikingError{f.Code, message, f.Details})
	if err != nil {
		inner = []byte(`{"code":"INTERNAL","message":"the error could not be encoded","details":{}}`)
	}
	var b bytes.Buffer
	b.WriteString(`{"status":"error",`)
	if !f.Bare {
		b.WriteString(`"result":null,`)
	}
	b.WriteString(`"error":`)
	b.Write(inner)
	if !f.Bare {
		b.WriteString(`,"telemetry":null,"profile":null`)
	}
	b.WriteByte('}')
	WriteJSON(w, f.Status, b.Bytes())
}

// WriteOK answers with OpenViking's success envelope around result. short drops the top-level nulls.
func WriteOK(w http.ResponseWriter, r *http.Request, result any, short bool) {
	writeResult(w, r, http.StatusOK, result, short)
}

// WriteMeasured is WriteOK with what the request asked to be told about itself.
func WriteMeasured(w http.ResponseWriter, r *http.Request, result, telemetry any, short bool) {
	inner, err := Encode(result)
	if err == nil {
		var measured []byte
		if measured, err = Encode(telemetry); err == nil {
			WriteJSON(w, http.StatusOK, envelope(inner, short, measured))
			return
		}
	}
	WriteError(w, r, skald.E("http.encode", skald.KindInternal, "%w", err))
}

// WriteAccepted answers 202 with the whole envelope: what was asked for has begun.
func WriteAccepted(w http.ResponseWriter, r *http.Request, result any) {
	writeResult(w, r, http.StatusAccepted, result, false)
}

func writeResult(w http.ResponseWriter, r *http.Request, status int, result any, short bool) {
	inner, err := Encode(result)
	if err != nil {
		WriteError(w, r, skald.E("http.encode", skald.KindInternal, "%w", err))
		return
	}
	WriteJSON(w, status, envelope(inner, short, nil))
}

func envelope(result json.RawMessage, short bool, telemetry json.RawMessage) []byte {
	var b bytes.Buffer
	b.WriteString(`{"status":"ok","result":`)
	b.Write(result)
	if !short {
		b.WriteString(`,"error":null`)
	}
	switch {
	case telemetry != nil:
		b.WriteString(`,"telemetry":`)
		b.Write(telemetry)
	case !short:
		b.WriteString(`,"telemetry":null`)
	}
	if !short {
		b.WriteString(`,"profile":null`)
	}
	b.WriteByte('}')
	return b.Bytes()
}
