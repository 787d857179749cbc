package trial

import (
	"regexp"
	"strings"
	"time"

	"github.com/skald-engine/skald/archive/sentence"
	"github.com/skald-engine/skald/index/analyze"
	"github.com/skald-engine/skald/message"
)

// statement is one sentence of a user that states something.
type statement struct {
	at     place
	text   string
	values []string        // sorted as said
	words  map[string]bool // content words without the values
	cue    string          // the user's own word for "I said so before"; "" without one
	claims bool            // states a fact by itself: no question, no order, no change
}

// place is where something was said or done.
type place struct {
	session *session
	index   int // of the message in the session
	time    time.Time
}

// Sizes, in characters, up to which a text is taken for the user's own words rather than something pasted.
const (
	longestSentence = 300
	longestMessage  = 4000
)

var (
	fence  = regexp.MustCompile("(?s)```.*?(?:```|$)")
	quoted = regexp.MustCompile(`(?m)^(?:>|\t| {4}).*$`)
	stamp  = regexp.MustCompile(`^\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d[^\]\n]*\] `) // the host's date before a prompt
)

// said is the user's own words in a message: without code, quotations and what looks pasted.
func said(m *message.Message) string {
	text := stamp.ReplaceAllString(strings.TrimSpace(m.Text()), "")
	if message.Heartbeat(text) || strings.HasPrefix(text, "/") || len([]rune(text)) > longestMessage {
		return ""
	}
	return quoted.ReplaceAllString(fence.ReplaceAllString(text, " "), "")
}

// statements reads the sentences of a user's message that state something or name a value; questions are none.
func statements(m *message.Message, at place) []statement {
	var list []statement
	for _, text := range sentence.Split(said(m)) {
		if n := len([]rune(text)); n > longestSentence || n < 4 {
			continue
		}
		if s := read(text); s.claims || s.cue != "" || len(s.values) > 0 && !asks(text) {
			s.at = at
			list = append(list, s)
		}
	}
	return list
}

func read(text string) statement {
	s := statement{text: text, cue: repeats.FindString(text), words: map[string]bool{}}
	bare := repeats.ReplaceAllString(text, " ")
	s.values = values(bare)
	own := map[string]bool{}
	for _, v := range s.values {
		own[v] = true
		for _, part := range analyze.Terms(v) {
			own[part] = true
		}
	}
	for _, w := range analyze.Words(bare) {
		if !own[w.Term] {
			s.words[w.Term] = true
		}
	}
	s.claims = !asks(text) && !orders(bare) && !changes.MatchString(bare) && !wishes.MatchString(bare) && states.MatchString(bare)
	return s
}

// repeats are the phrases with which people say that they said something before.
var repeats = regexp.MustCompile(`(?i)\b(?:(?:as|like) i(?:'ve| have)?(?: already| just)? (?:said|mentioned|told you|wrote|explained)(?: before| earlier| already)?` +
	`|i(?:'ve| have)?(?: already| just)? told you(?: that| already| before)*|i(?:'ve| have)? already (?:said|mentioned|explained)(?: that)?` +
	`|(?:didn't|did) i (?:not )?(?:already )?(?:tell you|say|mention)(?: that)?|how (?:often|many times) do i|for the (?:second|third|fourth|fifth|last|hundredth|nth) time` +
	`|once again,|wie gesagt|hab(?:e)? ich (?:doch |dir )*(?:schon |bereits )gesagt)` +
	`|^again[,:]|我(?:之前|刚才|早就|已经)*(?:说过|讲过|提过|提到过|告诉过你|强调过)了?|(?:跟|和|对)你(?:说|讲)过了?|再说一(?:遍|次)|重复一遍|你又忘了`)

// changes are the words with which people say that something is different from now on.
var changes = regexp.MustCompile(`(?i)\b(?:now|changed?|changing|instead|no longer|switch(?:ed|ing)?|mov(?:e|ed|ing) to|back to|actually|rather|updated?|renamed?|replac\w+|from today|anymore|correct(?:ion|ed))\b` +
	`|改成|改为|改到|改用|现在|换成|换到|不再|变成|更新|其实|搬到|原来`)

// wishes are the words of somebody who tells of a plan, a wish or a trouble: such a sentence names facts in passing, and is news.
var wishes = regexp.MustCompile(`(?i)\b(?:try|tried|trying|trouble|errors?|issues?|problems?|fail(?:s|ed|ing)?|(?:want|like|love|need|plan|planning|going|about|hop(?:e|ing)|decided|thinking) (?:to|of|for)|not sure|` +
	`not working|doesn't work|look(?:ing)? (?:for|at|into)|how to|wonder(?:ing)?|experiencing|struggling|i think|i guess|i'll|i will|let me|here(?:'s| is| are)|for (?:instance|example)|say,?)\b|想要|打算|准备|希望|报错|出错|失败|问题`)

// finished are the words of somebody who tells that a thing is done: news, when it was a plan before.
var finished = regexp.MustCompile(`(?i)\b(?:i|we)(?:'ve| have)(?: also| already| just| recently| now| finally)* (?:\w+ed|set|built|made|done|written|put|gotten|run)\b|了`)

// states are the words that a statement of a fact holds in the languages that are known.
var states = regexp.MustCompile(`(?i)\b(?:is|are|was|were|am|'s|uses?|using|runs|listens?|lives?|called|named|must|should|never|always|prefers?|wants?|needs?|use|keep|stands?|belongs?|has|have|goes|means|be)\b` +
	`|[=＝:：]|是|叫|在|用|要|必须|不|别|为|有|住`)

var (
	asking = regexp.MustCompile(`(?i)[?？]\s*$|^(?:what|which|who|whom|whose|where|when|why|how|is|are|was|were|do|does|did|can|could|will|would|should|shall|have|has)\b|吗|呢\s*$|什么|哪|谁|怎么|为什么|多少|几点|是不是|还是.*[?？]`)
	order  = regexp.MustCompile(`(?i)^(?:(?:please|now|then|ok(?:ay)?|and|also|so|first|next|finally|great|good|nice|thanks?|yes|no|just|let's|let us|i want you to|i need you to|we need to|you should|you need to)[\s,.!:-]+)*` +
		`(?:run|re-?run|open|re-?open|read|re-?read|show|print|fix|check|re-?check|add|create|write|edit|delete|remove|look|find|search|list|commit|push|pull|deploy|make|build|test|re-?start|start|stop|install|` +
		`tell|give|send|explain|try|re-?try|rename|copy|revert|merge|review|refactor|implement|go|continue|do|fetch|ping|call|watch|compare|generate|draft|summari[sz]e|translate|figure|see|take|put|get|clean|tag|release|curl|ssh|cat|grep)\b` +
		`|^(?:请|帮|麻烦|再|然后|现在|那就|先)*(?:你|我)?(?:帮我|给我|看看?|运行|跑|打开|读|改|写|删|查|检查|加|部署|发|执行|试|列|找|生成|翻译|总结|解释)`)
)

func asks(text string) bool   { return asking.MatchString(text) }
func orders(text string) bool { return order.MatchString(strings.TrimSpace(text)) }
