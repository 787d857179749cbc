package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// ResultLimits say which results of tools a session's context shows as stubs. Sizes are Unicode code points. The stored turn is not touched:
// a stub is a way of showing it.
type ResultLimits struct {
	Off         bool // all are shown whole
	Threshold   int  // a result over this is a stub
	TurnBudget  int  // results that follow each other are whole up to this; the largest become stubs first
	Preview     int  // of one stub
	MinPreview  int  // at least, however many stubs there are
	TurnPreview int  // of all stubs that follow each other
}

// DefaultResultLimits are OpenViking's.
var DefaultResultLimits = ResultLimits{Threshold: 20_000, TurnBudget: 100_000, Preview: 2000, MinPreview: 1000, TurnPreview: 10_000}

// The reasons why a result is shown as a stub.
const (
	overThreshold = "single_threshold"
	overBudget    = "turn_budget"
)

// Result is the result of a tool in a stored turn.
type Result struct {
	Message HostMessage
	Info    ToolResult // without Session, User, Storage and Output
	Text    string
	host    hostMessage
}

// ResultOf reads a turn's message as a tool's result.
func ResultOf(session string, m HostMessage) (Result, bool) {
	h := parseHost(m)
	if h.Role != "toolResult" {
		return Result{}, false
	}
	r := Result{Message: m, Text: resultText(h), host: h}
	var tool, name string
	_ = json.Unmarshal(h.ToolCallID, &tool) // what is no text names no tool
	_ = json.Unmarshal(h.ToolName, &name)
	sum := sha256.Sum256([]byte(r.Text))
	digest := hex.EncodeToString(sum[:])
	r.Info = ToolResult{
		ID: resultName(tool, digest), Message: foreignID(session, m.Seq), Tool: tool, Name: name, CreatedAt: timestamp(m.Time),
		Chars: utf8.RuneCountInString(r.Text), SHA256: digest, MIME: "text/plain", OffsetUnit: offsetUnit,
	}
	if o := h.Origin; o != nil && o.ID != "" {
		r.Info.Message = o.ID
		if o.CreatedAt != "" {
			r.Info.CreatedAt = o.CreatedAt
		}
		if o.Peer != "" {
			r.Info.Peer = &o.Peer
		}
	}
	return r, true
}

// resultName is tr_<tool id>_<16 of the hash>, or tr_<24 of the hash>.
func resultName(tool, digest string) string {
	safe := strings.Map(func(r rune) rune {
		if r < 0x80 && skald.SafeID(string(r)+"x") && r != '@' {
			return r
		}
		return '_'
	}, tool)
	if safe == "" {
		return "tr_" + digest[:24]
	}
	return "tr_" + safe[:min(len(safe), 96)] + "_" + digest[:16]
}

func resultText(h hostMessage) string {
	var texts []string
	for _, b := range h.Content {
		if s := b.text("text"); s != "" {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n")
}

// Stubs shows the long ones of results that follow each other as stubs: the message of each that is to be shown so, nil for the others.
// uri is the folder of the session's results.
func Stubs(run []Result, limits ResultLimits, uri skald.URI) [][]byte {
	reasons, total := choose(run, limits)
	many := 0
	for _, why := range reasons {
		if why != "" {
			many++
		}
	}
	out := make([][]byte, len(run))
	for i, why := range reasons {
		if why == "" {
			continue
		}
		size := min(limits.Preview, max(limits.MinPreview, limits.TurnPreview/many))
		out[i] = run[i].stub(why, uri, size, Part{
			"tool_output_group_id": literal(run[0].Info.Message), "tool_output_group_original_chars": number(total),
			"tool_output_group_budget_chars": number(limits.TurnBudget),
		})
	}
	return out
}

// choose says of each result why it becomes a stub, "" when it stays whole.
func choose(run []Result, limits ResultLimits) (reasons []string, total int) {
	reasons = make([]string, len(run))
	whole := 0
	for i, r := range run {
		total += r.Info.Chars
		if !limits.Off && r.Info.Chars > max(limits.Threshold, limits.Preview) {
			reasons[i] = overThreshold
		} else {
			whole += r.Info.Chars
		}
	}
	for !limits.Off && whole > limits.TurnBudget {
		largest := -1
		for i, r := range run {
			if reasons[i] == "" && r.Info.Chars > limits.Preview && (largest < 0 || r.Info.Chars > run[largest].Info.Chars) {
				largest = i
			}
		}
		if largest < 0 {
			break
		}
		reasons[largest] = overBudget
		whole -= run[largest].Info.Chars
	}
	return reasons, total
}

// stub is the message with a synopsis in the place of its text.
func (r Result) stub(why string, folder skald.URI, size int, view Part) []byte {
	uri := folder.Join(r.Info.ID)
	text := stubText(r, why, uri, size)
	h := r.host
	h.Content = []Part{textPart(literal(text))}
	origin := mark{}
	if h.Origin != nil {
		origin = *h.Origin
	}
	for key, value := range map[string]json.RawMessage{
		"tool_output_ref": literal(string(uri)), "tool_output_storage_uri": literal(string(uri)), "tool_output_truncated": json.RawMessage("true"),
		"tool_output_original_chars": number(r.Info.Chars), "tool_output_preview_chars": number(utf8.RuneCountInString(text)),
		"tool_output_sha256": literal(r.Info.SHA256), "tool_output_externalized_reason": literal(why),
	} {
		view[key] = value
	}
	origin.View, h.Origin = view, &origin
	raw, err := wire.Encode(h)
	if err != nil {
		return nil // what came out of JSON always encodes; the whole is shown otherwise
	}
	return raw
}

func number(n int) json.RawMessage { return json.RawMessage(strconv.Itoa(n)) }

func stubText(r Result, why string, uri skald.URI, size int) string {
	head, tail := ends(r.Text, size/2)
	var b strings.Builder
	fmt.Fprintf(&b, "[long tool result, kept outside the conversation]\ntool_name: %s\noriginal_chars: %d\nref: %s\nsha256: %s\nreason: %s\n",
		r.Info.Name, r.Info.Chars, uri, r.Info.SHA256[:16], why)
	for _, line := range Summarise(r.Text).Summary {
		b.WriteString("- " + line + "\n")
	}
	fmt.Fprintf(&b, "\nIt begins:\n%s\n\nIt ends:\n%s\n\nopenviking_tool_result_read with this ref reads it, openviking_tool_result_search looks into it, "+
		"openviking_tool_result_list names all that are kept so.", head, tail)
	return b.String()
}

// ends are the first and the last characters of a text.
func ends(text string, size int) (head, tail string) {
	runes := []rune(text)
	size = min(size, len(runes)/2)
	return string(runes[:size]), string(runes[len(runes)-size:])
}
