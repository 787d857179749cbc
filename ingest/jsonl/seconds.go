package jsonl

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Numbers that can only be seconds: as milliseconds they would be days of the early seventies, when nobody talked to a program.
const (
	firstSecond = 100_000_000
	lastSecond  = 100_000_000_000
)

// inMillis is the message with a timestamp in seconds, as Python and Unix write it, in milliseconds. Nothing else of it changes.
func inMillis(raw []byte, timestamp json.RawMessage) []byte {
	seconds, err := strconv.ParseFloat(string(timestamp), 64)
	if err != nil || seconds < firstSecond || seconds >= lastSecond {
		return raw
	}
	at := timestampAt(raw)
	if at < 0 || !bytes.HasPrefix(raw[at:], timestamp) {
		return raw
	}
	millis := strconv.AppendInt(nil, int64(seconds*1000), 10)
	return bytes.Join([][]byte{raw[:at], millis, raw[at+len(timestamp):]}, nil)
}

// timestampAt is where the value of the message's last timestamp begins, which is the one that counts; -1 when there is none.
func timestampAt(raw []byte) int {
	at := -1
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return at
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return at
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return at
		}
		if key == "timestamp" {
			at = int(dec.InputOffset()) - len(value)
		}
	}
	return at
}
