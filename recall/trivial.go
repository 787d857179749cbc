package recall

import (
	"strings"
	"unicode"

	"github.com/skald-engine/skald/message"
)

// small are prompts that ask for nothing: no search is made for them (REC-05).
var small = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Split(`hi|hello|hey|hi there|hello there|hey there|good morning|good afternoon|good evening|good night|morning|yo|
thanks|thank you|thank you very much|thank you so much|thanks a lot|many thanks|thx|ty|cheers|much appreciated|
ok|okay|k|kk|ok thanks|okay thanks|ok thank you|got it|got it thanks|understood|sure|fine|alright|all right|right|great|great thanks|perfect|
perfect thanks|nice|cool|awesome|good|very good|well done|good job|sounds good|sounds great|looks good|lgtm|wow|haha|lol|hm|hmm|
yes|yes please|yeah|yep|yup|no|nope|no thanks|go ahead|go on|continue|please continue|proceed|do it|next|done|stop|wait|
bye|goodbye|bye bye|see you|see you later|see you tomorrow|good|no problem|you're welcome|welcome|how are you|how are you doing|what's up|
你好|您好|你好啊|嗨|哈喽|早|早安|早上好|上午好|下午好|晚上好|晚安|在吗|在么|谢谢|谢谢你|谢谢您|多谢|感谢|非常感谢|谢了|辛苦了|好|好的|好吧|好啊|好嘞|
行|行吧|可以|可以的|嗯|嗯嗯|哦|噢|是|是的|对|对的|没错|不|不是|不用|不用了|不用谢|没事|知道了|明白|明白了|了解|收到|懂了|ok的|继续|请继续|
再见|拜拜|回头见|明天见|哈哈|哈哈哈|呵呵|太好了|太棒了|很好|不错|赞|厉害|完美`, "|") {
		m[strings.TrimSpace(s)] = true
	}
	return m
}()

// Trivial reports whether a prompt asks for nothing that was said before: empty, punctuation, emoji, a greeting, thanks, a nod, a
// heartbeat. A question mark after a nod makes it no question of substance either; a word more does.
func Trivial(prompt string) bool {
	if message.Heartbeat(prompt) {
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(prompt, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '\''
	})
	if len(words) == 0 {
		return true
	}
	if len(words) > 6 {
		return false
	}
	return allSmall(words)
}

// allSmall recognises chains of such prompts: "ok thanks, got it, bye".
func allSmall(words []string) bool {
	if len(words) == 0 {
		return true
	}
	for n := len(words); n > 0; n-- {
		if small[strings.Join(words[:n], " ")] && allSmall(words[n:]) {
			return true
		}
	}
	return false
}
