package trial

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skald-engine/skald/message"
)

// Kinds of a tool call that only looks at something.
const (
	kindFile    = "file"
	kindCommand = "command"
)

// call is a tool call with its result.
type call struct {
	at     place  // of the message with the call
	kind   string // kindFile, kindCommand; "" when it may change something, or is not known
	key    string // tool and normalised arguments: equal for equal calls
	shown  string // for people
	target string // path that is read; ""
	body   string // all arguments, for finding what was changed
	id     string
	result string // text, white space folded
	failed bool
	tokens int // of call and result
}

// leastResult is the shortest result, in characters, whose repetition is worth a word.
const leastResult = 40

var fileTools = words("read open view cat read_file file_read readfile fs_read view_file open_file get_file get_file_contents notebookread")
var searchTools = words("grep glob find find_file search_file search_dir ls list list_dir list_files list_directory search_files")
var shellTools = words("bash exec shell sh run terminal execute execute_command run_command run_shell_command bashexecution")

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// readCall classifies a call by its name and arguments.
func readCall(b message.Block, at place) call {
	name := strings.ToLower(b.Name)
	args := map[string]any{}
	_ = json.Unmarshal(b.Arguments, &args)
	c := call{at: at, id: message.ToolID(b.ID), body: string(b.Arguments), tokens: message.TextTokens(b.Name + string(b.Arguments))}
	switch {
	case fileTools[name]:
		if c.target = filePath(args); c.target != "" {
			c.kind, c.shown = kindFile, b.Name+" "+c.target
		}
	case searchTools[name] && len(args) > 0:
		c.kind, c.shown = kindCommand, b.Name+" "+string(b.Arguments)
	case shellTools[name]:
		if command := commandOf(args); looksOnly(command) {
			c.kind, c.shown = kindCommand, command
			args = map[string]any{"command": fold(command)}
		}
	}
	c.key = name + " " + canonical(args)
	return c
}

var pathKeys = []string{"path", "file_path", "filepath", "filename", "file", "file_name", "target_file", "absolute_path", "notebook_path", "args"}

// filePath cleans the path among the arguments, in place, and returns it.
func filePath(args map[string]any) string {
	for _, k := range pathKeys {
		if p, ok := args[k].(string); ok && strings.TrimSpace(p) != "" {
			p = path.Clean(strings.TrimSpace(p))
			args[k] = p
			return p
		}
	}
	return ""
}

func commandOf(args map[string]any) string {
	for _, k := range []string{"command", "cmd", "script"} {
		switch v := args[k].(type) {
		case string:
			return strings.TrimSpace(v)
		case []any: // an argument vector
			var parts []string
			for _, e := range v {
				s, _ := e.(string)
				parts = append(parts, s)
			}
			return strings.Join(parts, " ")
		}
	}
	return ""
}

// canonical writes arguments in one order; what only steers the run does not matter.
func canonical(args map[string]any) string {
	for _, k := range []string{"timeout", "timeout_ms", "description", "explanation", "yieldMs", "background"} {
		delete(args, k)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return ""
	}
	return string(raw)
}

// lookers are the programs that show what is there and nothing else. What tells of a moving state (git status, ps, date, tail of a log) is
// no repetition when asked again, nor is a test or a build.
var lookers = words("cat head sed ls find grep egrep fgrep rg ag awk wc tree file du pwd which type jq yq sort uniq cut nl cd less more stat readlink realpath basename dirname true")

var gitLooks = words("show blame grep ls-files ls-tree cat-file")

var (
	segment  = regexp.MustCompile(`&&|\|\||[|;\n]`)
	harmless = regexp.MustCompile(`2>\s*/dev/null|2>&1|>\s*/dev/null`)
	acts     = regexp.MustCompile(`(?:^|\s)(?:-i\b|--in-place|-delete\b|-exec\w*\b|-ok\b|-fprint\w*)|system\s*\(`)
)

// looksOnly reports a command line that changes nothing and asks for nothing that moves.
func looksOnly(command string) bool {
	command = harmless.ReplaceAllString(command, " ")
	if command == "" || strings.ContainsAny(command, "><`") || strings.Contains(command, "$(") || acts.MatchString(command) {
		return false
	}
	looked := false
	for _, s := range segment.Split(command, -1) {
		f := strings.Fields(s)
		switch {
		case len(f) == 0:
		case f[0] == "git" && len(f) > 1 && gitLooks[f[1]]:
			looked = true
		case !lookers[f[0]]:
			return false
		case f[0] != "cd" && f[0] != "true" && f[0] != "pwd":
			looked = true
		}
	}
	return looked
}

// rechecks are the words of a user who wants something looked at once more.
var rechecks = regexp.MustCompile(`(?i)\b(?:again|once more|re-?read|re-?check|re-?open|re-?run|verify|double-?check|refresh|chang(?:e|ed|es)|updated?|edited|modified|still|latest|current(?:ly)?|now)\b` +
	`|再|重新|又|检查|确认|改了|更新|现在|还在|最新`)

// calls are those made so far.
type calls struct {
	looks   map[string][]call   // by key, in order of time
	changes map[*session][]call // those that may have changed something
}

func newCalls() *calls {
	return &calls{looks: map[string][]call{}, changes: map[*session][]call{}}
}

func (l *calls) add(c call) {
	if c.kind == "" {
		l.changes[c.at.session] = append(l.changes[c.at.session], c)
		return
	}
	l.looks[c.key] = append(l.looks[c.key], c)
}

// repeated finds the newest earlier call that asked for the same and got the same, if nothing in between touched what it looked at.
func (l *calls) repeated(c call) (earlier call, ok bool) {
	if c.kind == "" || c.failed || len([]rune(c.result)) < leastResult {
		return earlier, false
	}
	list := l.looks[c.key]
	if len(list) == 0 {
		return earlier, false
	}
	e := list[len(list)-1]
	if e.failed || e.result != c.result || l.touched(c, e) {
		return earlier, false
	}
	return e, true
}

// touched reports that a call between the two named the file, and may have changed it.
func (l *calls) touched(c, e call) bool {
	if c.target == "" {
		return false
	}
	name := path.Base(c.target)
	return slices.ContainsFunc(l.changes[c.at.session], func(w call) bool {
		after := e.at.session != c.at.session || w.at.index > e.at.index
		return after && strings.Contains(w.body, name)
	})
}
