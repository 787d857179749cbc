package mcp

// Spec is what a client is told about one tool. The texts of memory_recall, memory_expand, memory_store and memory_forget are those of
// the OpenClaw plugin (openclaw/src/toolspecs.ts), so that a model finds the same tools everywhere; a test holds the two together.
type Spec struct {
	Name, Title, Text string
	Parameters        []Parameter
	ReadOnly          bool // changes nothing
	Destructive       bool // takes something away
	Idempotent        bool // a second call with the same arguments changes nothing more
}

// Parameter is one argument of a tool.
type Parameter struct {
	Name, Text string
	Required   bool
	Integer    bool // a whole number from Min to Max; else a string
	Min, Max   int
	OneOf      []string // the values that a string may have; nil: any
}

func text(name, description string) Parameter { return Parameter{Name: name, Text: description} }

func needed(p Parameter) Parameter { p.Required = true; return p }

func count(name, description string, least, most int) Parameter {
	return Parameter{Name: name, Text: description, Integer: true, Min: least, Max: most}
}

// Specs are the tools, in the order in which clients list them.
var Specs = []Spec{
	{
		Name: "memory_recall", Title: "Recall", ReadOnly: true,
		Text: "Search long-term memory, archived conversations and earlier messages. Use it before answering about earlier work, " +
			"decisions, people, dates or preferences that are not visible.",
		Parameters: []Parameter{needed(text("query", "What to look for, in plain words")), count("limit", "Most results", 1, 100)},
	},
	{
		Name: "memory_expand", Title: "Expand", ReadOnly: true,
		Text: "Open a summary, archive, memory or turn by its viking:// URI and read the original messages behind it.",
		Parameters: []Parameter{needed(text("uri", "viking:// URI of a summary, archive, memory or turn")),
			text("query", "Show only the messages that match"), count("limit", "Most messages", 1, 100)},
	},
	{
		Name: "memory_store", Title: "Remember", Idempotent: true,
		Text: "Store a fact for good. Use it when the user asks to remember something.",
		Parameters: []Parameter{needed(text("text", "The fact, in one or a few complete sentences")),
			{Name: "type", Text: "profile, preferences, entities, events, cases or patterns",
				OneOf: []string{"profile", "preferences", "entities", "events", "cases", "patterns"}}},
	},
	{
		Name: "memory_forget", Title: "Forget", Destructive: true, Idempotent: true,
		Text:       "Take a memory out of recall for good, by its URI or by a query that finds it.",
		Parameters: []Parameter{text("uri", "viking:// URI of the memory"), text("query", "What the memory says")},
	},
	{
		Name: "memory_search", Title: "Search", ReadOnly: true,
		Text: "List what matches a query, best first, each with its URI, kind and score. memory_recall answers a question; this one " +
			"looks around, below one folder if need be.",
		Parameters: []Parameter{needed(text("query", "Words to find")), count("limit", "Most hits (default 10)", 1, 100),
			text("scope", "viking:// URI of the folder to search below"),
			{Name: "kind", Text: "Only hits of this kind", OneOf: []string{"memory", "archive", "turn", "resource", "skill"}}},
	},
	{
		Name: "memory_ls", Title: "List", ReadOnly: true,
		Text: "List a folder of the viking:// tree: memories by type, sessions with their archives.",
		Parameters: []Parameter{text("uri", "viking:// URI of the folder (default viking://)"),
			count("depth", "Levels below the folder (default 1)", 1, 6)},
	},
	{
		Name: "memory_read", Title: "Read", ReadOnly: true,
		Text: "Read a file of the viking:// tree as it is stored: a memory, the overview of an archive, turns as JSON lines.",
		Parameters: []Parameter{needed(text("uri", "viking:// URI of the file")),
			count("offset", "Characters to skip, as next_offset told (default 0)", 0, 1<<30)},
	},
}

// schema is the JSON schema of a tool's arguments.
func (s Spec) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range s.Parameters {
		properties[p.Name] = p.schema()
		if p.Required {
			required = append(required, p.Name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

func (p Parameter) schema() map[string]any {
	m := map[string]any{"type": "string", "description": p.Text}
	switch {
	case p.Integer:
		m["type"], m["minimum"], m["maximum"] = "integer", p.Min, p.Max
	case p.OneOf != nil:
		m["enum"] = p.OneOf
	}
	return m
}
