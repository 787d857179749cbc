package api

import (
	"bytes"
	"encoding/json"
)

// parsePart reads one part. What is no part becomes text, as OpenViking does.
func parsePart(raw json.RawMessage, v *issues, loc []string) Part {
	var p Part
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &p) != nil {
		return textPart(stringForm(raw))
	}
	at := func(field string) []string { return append(loc[:len(loc):len(loc)], field) }
	switch p.text("type") {
	case "text":
		return checkText(p, v, at("text"))
	case "context":
		return parseContext(p, v, at("uri"))
	case "tool":
		return parseTool(p, v, at("tool_status"))
	case "image_url":
		return parseImage(p, v, at("image_url"))
	}
	if isString(p["text"]) {
		return textPart(p["text"])
	}
	return textPart(stringForm(raw))
}

func textPart(text json.RawMessage) Part { return Part{"type": literal("text"), "text": text} }

// stringForm is a JSON string with a value's text: the string itself, or the JSON of anything else.
func stringForm(raw json.RawMessage) json.RawMessage {
	if isString(raw) {
		return raw
	}
	return literal(string(raw))
}

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

func checkText(p Part, v *issues, loc []string) Part {
	if !isString(p["text"]) {
		v.add(loc, "string_type", "Input should be a valid string")
	}
	return textPart(p["text"])
}

func parseContext(p Part, v *issues, loc []string) Part {
	if p.text("uri") == "" {
		v.add(loc, "missing", "Field required")
	}
	c := Part{"type": literal("context"), "uri": p["uri"], "context_type": p["context_type"], "abstract": p["abstract"]}
	if !isString(c["context_type"]) {
		c["context_type"] = literal("memory")
	}
	if !isString(c["abstract"]) {
		c["abstract"] = literal("")
	}
	return c
}

// toolStatuses are the states of a tool part.
var toolStatuses = map[string]bool{"pending": true, "running": true, "completed": true, "error": true}

// parseTool keeps every key that is set; the five identifying ones are always there.
func parseTool(p Part, v *issues, loc []string) Part {
	for key, raw := range p {
		if string(raw) == "null" {
			delete(p, key)
		}
	}
	for _, key := range []string{"tool_id", "tool_name", "tool_uri", "skill_uri"} {
		p[key] = stringForm(p[key])
	}
	if out, ok := p["tool_output"]; ok {
		p["tool_output"] = stringForm(out)
	}
	if _, ok := p["tool_status"]; !ok {
		p["tool_status"] = literal("pending")
	}
	if !toolStatuses[p.text("tool_status")] {
		v.add(loc, "enum", "Input should be pending, running, completed or error")
	}
	return p
}

// parseImage accepts the bare URL too.
func parseImage(p Part, v *issues, loc []string) Part {
	raw := p["image_url"]
	if isString(raw) {
		raw = json.RawMessage(`{"url":` + string(raw) + `}`)
	}
	var image Part
	if err := json.Unmarshal(raw, &image); err != nil || image.text("url") == "" {
		v.add(loc, "value_error", "image_url needs a non-empty url")
		return p
	}
	return Part{"type": literal("image_url"), "image_url": object(image)}
}
