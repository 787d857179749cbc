package chatgpt

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/skald-engine/skald/ingest/record"
)

// conversation is one conversation of an export: a tree of messages, in which an edited prompt or a repeated answer is a branch.
type conversation struct {
	Title          string          `json:"title"`
	CreateTime     seconds         `json:"create_time"`
	ConversationID string          `json:"conversation_id"`
	ID             string          `json:"id"`
	CurrentNode    string          `json:"current_node"`
	Mapping        map[string]node `json:"mapping"`
}

type node struct {
	ID      string `json:"id"`
	Parent  string `json:"parent"`
	Message *said  `json:"message"`
}

// said is one message.
type said struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
		Name string `json:"name"`
	} `json:"author"`
	CreateTime seconds         `json:"create_time"`
	Content    json.RawMessage `json:"content"`
	Weight     *float64        `json:"weight"`
	Recipient  string          `json:"recipient"`
	Metadata   metadata        `json:"metadata"`
}

type metadata struct {
	Hidden      bool         `json:"is_visually_hidden_from_conversation"`
	ModelSlug   string       `json:"model_slug"`
	Attachments []attachment `json:"attachments"`
	UserContext struct {
		User  string `json:"about_user_message"`
		Model string `json:"about_model_message"`
	} `json:"user_context_message_data"`
}

type attachment struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Mime string `json:"mimeType"`
}

// id is the conversation's, or one derived from its first message where an old export has none.
func (c conversation) id() string {
	switch {
	case c.ConversationID != "":
		return c.ConversationID
	case c.ID != "":
		return c.ID
	}
	return record.Derived(Name, c.Title, c.CurrentNode)
}

// branch is a list of nodes from the root, or from where it left another branch, to a leaf.
type branch []node

// spoken reports whether the user said something on the branch.
func (b branch) spoken() bool {
	return slices.ContainsFunc(b, func(n node) bool { return n.Message != nil && n.Message.Author.Role == "user" })
}

// paths parts the tree: what was shown last, and what else there is, newest leaf first.
func (c conversation) paths() (shown branch, others []branch) {
	taken := map[string]bool{}
	up := func(id string) branch {
		var b branch
		for id != "" && !taken[id] {
			n, ok := c.Mapping[id]
			if !ok {
				break
			}
			taken[id], n.ID = true, id
			b = append(b, n)
			id = n.Parent
		}
		slices.Reverse(b)
		return b
	}
	leaves := c.leaves()
	if _, ok := c.Mapping[c.CurrentNode]; !ok && len(leaves) > 0 {
		c.CurrentNode = leaves[0]
	}
	shown = up(c.CurrentNode)
	for _, l := range leaves {
		if b := up(l); len(b) > 0 {
			others = append(others, b)
		}
	}
	return shown, others
}

// leaves are the nodes without children, the newest first.
func (c conversation) leaves() []string {
	parents := map[string]bool{}
	for _, n := range c.Mapping {
		parents[n.Parent] = true
	}
	var list []string
	for id := range c.Mapping {
		if !parents[id] {
			list = append(list, id)
		}
	}
	at := func(id string) seconds {
		if m := c.Mapping[id].Message; m != nil {
			return m.CreateTime
		}
		return 0
	}
	slices.SortFunc(list, func(a, b string) int {
		switch x, y := at(a), at(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return strings.Compare(a, b)
	})
	return list
}
