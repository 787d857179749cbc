package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/skald-engine/skald/server/wire"
)

// decodeExact reads a JSON body into v, and refuses members that v does not know.
func decodeExact(r *http.Request, v any) error {
	b, err := wire.ReadBody(r)
	if err != nil {
		return err
	}
	if err := decodeAt(b, v, inBody()); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err = d.Decode(v)
	if err == nil {
		return nil
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return invalid(inBody(strings.Trim(name, `"`)), "extra_forbidden", "Extra inputs are not permitted")
	}
	return nil // decodeAt has told of everything else
}
