package chatgpt

import (
	"encoding/json"
	"strings"

	"github.com/skald-engine/skald/ingest/record"
)

// body is the content of a message; its type says which fields are set.
type body struct {
	Type     string            `json:"content_type"`
	Parts    []json.RawMessage `json:"parts"`    // text, multimodal_text: strings and objects
	Text     string            `json:"text"`     // code, execution_output, tether_quote, system_error
	Result   string            `json:"result"`   // tether_browsing_display
	Summary  string            `json:"summary"`  // tether_browsing_display
	Title    string            `json:"title"`    // tether_quote
	URL      string            `json:"url"`      // tether_quote
	Thoughts []thought         `json:"thoughts"` // thoughts
	User     string            `json:"user_profile"`
	Model    string            `json:"user_instructions"`
}

type thought struct {
	Summary string `json:"summary"`
	Content string `json:"content"`
}

// part is an object among the parts.
type part struct {
	Type    string `json:"content_type"`
	Pointer string `json:"asset_pointer"`
	Text    string `json:"text"` // audio_transcription
}

func content(raw json.RawMessage) body {
	var b body
	if json.Unmarshal(raw, &b) != nil {
		// One field of another type than expected must not hide the rest.
		var f map[string]json.RawMessage
		_ = json.Unmarshal(raw, &f)
		b = body{}
		_ = json.Unmarshal(f["content_type"], &b.Type)
		_ = json.Unmarshal(f["parts"], &b.Parts)
		_ = json.Unmarshal(f["text"], &b.Text)
	}
	return b
}

// instructions are the user's custom instructions, which ChatGPT puts before a conversation.
func (b body) instructions(m metadata) string {
	texts := []string{m.UserContext.User, m.UserContext.Model}
	if b.Type == "user_editable_context" {
		texts = append([]string{b.User, b.Model}, texts...)
	}
	return join(texts...)
}

// blocks are the content's blocks; known is false for a kind that is not.
func (r *reader) blocks(n node, b body) (out []record.Block, known bool) {
	text := func(s string) ([]record.Block, bool) {
		if strings.TrimSpace(s) == "" {
			return nil, true
		}
		return []record.Block{record.Text(s)}, true
	}
	switch b.Type {
	case "text", "multimodal_text":
		return r.parts(n, b.Parts), true
	case "code", "execution_output", "system_error":
		return text(b.Text)
	case "tether_quote":
		return text(join(b.Title, b.URL, b.Text))
	case "tether_browsing_display":
		return text(join(b.Summary, b.Result))
	case "thoughts":
		for _, t := range b.Thoughts {
			if s := join(t.Summary, t.Content); s != "" {
				out = append(out, record.Thinking(s))
			}
		}
		return out, true
	}
	if len(b.Parts) > 0 {
		return r.parts(n, b.Parts), true
	}
	out, _ = text(join(b.Title, b.URL, b.Text, b.Summary, b.Result))
	return out, len(out) > 0
}

func (r *reader) parts(n node, list []json.RawMessage) (out []record.Block) {
	for _, raw := range list {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			if strings.TrimSpace(s) != "" {
				out = append(out, record.Text(s))
			}
			continue
		}
		var p part
		_ = json.Unmarshal(raw, &p)
		switch {
		case p.Type == "image_asset_pointer":
			mime, data, err := r.assets(p.Pointer)
			if err != nil {
				r.emit(record.Skip(n.ID+" ("+p.Pointer+")", "an image: "+err.Error()))
				continue
			}
			out = append(out, record.Image(mime, data))
		case p.Text != "":
			out = append(out, record.Text(p.Text))
		default:
			r.skip(n, "a part of kind \""+p.Type+"\"")
		}
	}
	return out
}

// join joins the texts that are not blank, a line each.
func join(texts ...string) string {
	var out []string
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n")
}
