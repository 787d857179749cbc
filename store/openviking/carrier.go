package openviking

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/skald-engine/skald"
)

// A message on the server carries its turn as it is stored here, byte for byte, in source_message_ids: a list of free strings which OpenViking
// keeps with the message in every archive, and neither counts, nor shows a model, nor searches. One request thus stores both or none.
//
//	["skald/1", sequence, chain link in hex, base64 of the deflated header (JSON), a line feed, and the host's bytes]
const (
	mark        = "skald/1"
	markJournal = "skald/1/journal"
	carrierSize = 4         // strings
	mostBytes   = 512 << 20 // of one turn, inflated
)

// header is what is known about a turn beside its bytes.
type header struct {
	Session sessionHeader `json:"session"`
	Turn    skald.Turn    `json:"turn"` // without Raw
	Bytes   bool          `json:"bytes"`
}

// sessionHeader is what a rebuilt session needs that its turns don't tell.
type sessionHeader struct {
	ID         string         `json:"id"`
	Scope      string         `json:"scope,omitempty"` // the agent whose own scope it is in, or ""
	Agent      string         `json:"agent,omitempty"`
	Key        string         `json:"key,omitempty"`
	HostID     string         `json:"host_id,omitempty"`
	Audience   skald.Audience `json:"audience,omitempty"`
	Lifecycle  string         `json:"lifecycle,omitempty"`
	Parent     string         `json:"parent,omitempty"`
	Created    time.Time      `json:"created,omitzero"`
	EpochStart int64          `json:"epoch_position,omitempty"`
}

func headerOf(s skald.Session) sessionHeader {
	return sessionHeader{ID: s.Ref.ID, Scope: s.Ref.Scope.Agent, Agent: s.Agent, Key: s.Key, HostID: s.HostID, Audience: s.Audience,
		Lifecycle: s.Lifecycle, Parent: s.Parent, Created: s.Created, EpochStart: s.EpochPosition}
}

// carry packs a turn.
func carry(s sessionHeader, t skald.Turn) ([]string, error) {
	raw := t.Raw
	t.Raw = nil
	head, err := json.Marshal(header{Session: s, Turn: t, Bytes: raw != nil})
	if err != nil {
		return nil, skald.E("openviking.carry", skald.KindInternal, "turn %d: %w", t.Seq, err)
	}
	packed, err := pack(append(append(head, '\n'), raw...))
	return []string{mark, strconv.FormatInt(t.Seq, 10), hex.EncodeToString(t.Link), packed}, err
}

// carries reads the sequence and the link that a message carries; false when it carries no turn.
func carries(sources []string) (seq int64, link string, ok bool) {
	if len(sources) != carrierSize || sources[0] != mark {
		return 0, "", false
	}
	seq, err := strconv.ParseInt(sources[1], 10, 64)
	return seq, sources[2], err == nil && seq > 0
}

// unpackTurn is the inverse of carry.
func unpackTurn(sources []string) (h header, err error) {
	b, err := unpack(sources[carrierSize-1])
	if err != nil {
		return h, err
	}
	head, raw, ok := bytes.Cut(b, []byte("\n"))
	if !ok {
		return h, fmt.Errorf("a carried turn has no header")
	}
	if err := json.Unmarshal(head, &h); err != nil {
		return h, fmt.Errorf("the header of a carried turn: %w", err)
	}
	if h.Bytes {
		h.Turn.Raw = raw
	}
	return h, nil
}

func pack(b []byte) (string, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err == nil {
		if _, err = w.Write(b); err == nil {
			err = w.Close()
		}
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), err
}

func unpack(s string) ([]byte, error) {
	packed, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("a carried turn is no base64: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), mostBytes))
	if err != nil {
		return nil, fmt.Errorf("a carried turn is damaged: %w", err)
	}
	return b, nil
}
