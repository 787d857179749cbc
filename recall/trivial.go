package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

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
再见|拜拜|回头见|明天见|哈哈|哈哈哈|呵呵|太好了|太棒了|很好|不错|赞|厉害|完美|
let's go|let's start|let's get started|let's begin|let's continue|i'm back|i am back|can you help me|can you help me with something|could you help me|
i need help|i need your help|i need a favor|that was helpful|that's helpful|that helps|that helped|that was great|that's great|that's perfect|
that's all|that is all|that works|you're the best|you are the best|you're great|you're awesome|you rock|how's it going|how is it going|how's your day|
how's your day going|how is your day|how is your day going|how was your day|how have you been|what can you do|what do you do|who are you|
are you there|you there|nice to meet you|have a nice day|have a good day|have a great day|have a nice weekend|take care|talk to you later|talk later|
good to see you|i appreciate it|i appreciate your help|thanks for your help|thanks for the help|thanks for everything|thank you for your help|
helpful|sorry|my bad|i see|makes sense|that makes sense|interesting|no worries|one moment|of course|absolutely|exactly|amazing|wonderful|excellent|
brilliant|fantastic|tell me a joke|tell me something funny|happy new year|merry christmas|happy birthday|happy holidays|what's new|
谢啦|谢谢啦|太感谢|感谢你|麻烦你了|帮大忙了|帮了大忙|帮了我大忙|不客气|没关系|没问题|对不起|抱歉|不好意思|有道理|好主意|原来如此|先这样|就这样|
我回来了|我回来啦|回来了|回来啦|我们开始|咱们开始|开始吧|来吧|走吧|我们继续|咱们继续|天气不错|天气真好|天气很好|心情不错|最近怎么样|最近好吗|你好吗|
你怎么样|吃了吗|忙吗|有空吗|能帮我吗|帮我个忙|帮个忙|你能做什么|你能做些什么|你会做什么|你会什么|你是谁|讲个笑话|讲个笑话吧|说个笑话|新年快乐|
生日快乐|节日快乐|周末愉快|祝你愉快`, "|") {
		m[strings.TrimSpace(s)] = true
	}
	return m
}()

// filler may stand around such prompts: "oh well, thanks again", "太谢谢你了".
var filler = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(`oh ah well so really very just then now again everyone everybody friend buddy please too much there today all guys
that was it is indeed far for to you 啊 呀 吧 呢 吗 啦 了 哦 喔 哈 太 真 真是 真的 非常 很 那 那就 先 今天 今晚 大家 你 您 我 咱们 我们 给我 都 挺 也`) {
		m[s] = true
	}
	return m
}()

// The most units of a prompt that asks for nothing, and of one phrase of it: a unit is a word or a Han character.
const (
	smallPrompt = 16
	smallPhrase = 8
)

// Trivial reports whether a prompt asks for nothing that was said before: empty, punctuation, emoji, a greeting, thanks, a nod, small talk, a
// heartbeat, and chains of these: "ok thanks, got it, bye". A question mark after a nod makes it no question of substance either; a word more
// does.
func Trivial(prompt string) bool {
	if message.Heartbeat(prompt) {
		return true
	}
	list := units(prompt)
	if len(list) > smallPrompt {
		return false
	}
	return len(list) == 0 || allSmall(list, false)
}

// units are the words of a prompt in lower case; Han characters stand alone.
func units(prompt string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(prompt, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '\''
	}) {
		from := 0
		for i, r := range w {
			if unicode.Is(unicode.Han, r) {
				if from < i {
					out = append(out, w[from:i])
				}
				from = i + utf8.RuneLen(r)
				out = append(out, w[i:from])
			}
		}
		if from < len(w) {
			out = append(out, w[from:])
		}
	}
	return out
}

// allSmall recognises chains of small prompts and fillers, of which one at least is a prompt.
func allSmall(list []string, found bool) bool {
	if len(list) == 0 {
		return found
	}
	phrase := ""
	for n := 1; n <= len(list) && n <= smallPhrase; n++ {
		if u := list[n-1]; phrase != "" && (u[0] < utf8.RuneSelf || phrase[len(phrase)-1] < utf8.RuneSelf) {
			phrase += " " + u
		} else {
			phrase += u
		}
		if small[phrase] && allSmall(list[n:], true) || small[joined(list[:n])] && allSmall(list[n:], true) || filler[phrase] && allSmall(list[n:], found) {
			return true
		}
	}
	return false
}

func joined(list []string) string { return strings.Join(list, "") }
