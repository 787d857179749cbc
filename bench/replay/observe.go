package replay

import "encoding/json"

// Call is one call of the model, as Options.Observe is told of it. Token counts are of the serialised messages.
type Call struct {
	Start     int               // index in the conversation of the exchange's first message
	Message   int               // index of the assistant's message that answers
	First     bool              // the first call of its exchange
	Refused   bool              // budget_too_small: the engine gave nothing, and no count is set
	Before    []json.RawMessage // what the engine gave
	Pending   []json.RawMessage // the exchange's own messages up to the answer
	Tokens    int               // of both
	Shared    int               // tokens of the previous request, up to its prompt, with which this one begins
	Longest   int               // tokens readable from a provider's cache of all earlier requests, by the longest common beginning
	Mark      int               // the same where a cache is read at marked places only: the ends of prompts
	Published bool              // the engine's view changed just before
}

func (p *Player) observe(c Call) {
	if p.options.Observe != nil {
		p.options.Observe(c)
	}
}
