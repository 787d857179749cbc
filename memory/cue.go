package memory

import (
	"strings"

	"github.com/skald-engine/skald/archive/sentence"
)

var (
	cueExplicit = sentence.Cues{"^remember", "^please remember", "remember that", "remember:", "keep in mind", "note that", "don't forget that", "^note:", "记住", "记一下", "请记得", "帮我记着", "^记得"}
	cueLike     = sentence.Cues{"i prefer", "i'd prefer", "i like", "i love", "i enjoy", "i hate", "i dislike", "i don't like", "i no longer", "i now prefer", "i now like", "i stopped", "i can't stand", "i usually", "i'm used to",
		"my favourite", "my favorite", "i don't eat", "i don't drink", "i only eat", "我喜欢", "我不喜欢", "我爱", "更爱", "我更喜欢", "我讨厌", "我习惯", "有个习惯", "我不吃", "我不喝", "我只吃", "我偏好", "我最爱", "我最喜欢", "我现在喜欢", "我不再喜欢"}
	cueRule = sentence.Cues{"always", "never", "from now on", "please don't", "please do not", "ask me first", "no longer want you", "whenever i", "stop using", "以后", "一律", "永远", "别再", "不要再", "从现在起", "请不要", "务必", "规矩", "尽量", "不要给我", "每次都"}
	cueSelf = sentence.Cues{"my name is", "my name's", "call me", "i live in", "i moved to", "i've moved to", "i'm living in", "i work at", "i work for", "i work as", "i was born", "i grew up", "i'm allergic", "i am allergic",
		"i'm vegetarian", "i am vegetarian", "i'm vegan", "i am vegan", "i speak", "my birthday", "my email", "my phone", "my timezone", "my time zone", "years old", "i study", "i'm colour-blind", "i'm colorblind", "diabetic",
		"我叫", "叫我", "我住", "我搬", "我在", "我的生日", "我的邮箱", "我的电话", "我今年", "我对", "我吃素", "我的职业", "我从事", "我出生"}
	cueSelfIs   = sentence.Cues{"^i am a", "^i am an", "^i'm a", "^i'm an", "^i am the", "^i'm the", "and i'm a", "and i am a", "^我是", "我是一", "我是个"}
	cueRelation = sentence.Cues{"is my", "are my", "my wife", "my husband", "my mother", "my mom", "my mum", "my father", "my dad", "my sister", "my brother", "my son", "my daughter", "my boss", "my manager", "my colleague", "my colleagues", "colleagues",
		"my friend", "my partner", "my team", "my landlord", "my doctor", "my dentist", "my cat", "my dog", "my flatmate", "my housemate", "my roommate", "flatmate", "housemate", "roommate", "teammates", "joined us", "joined the team", "allergic", "vegetarian", "vegan",
		"妈妈", "我妈", "爸爸", "我爸", "老婆", "老公", "妻子", "丈夫", "女儿", "儿子", "姐姐", "妹妹", "哥哥", "弟弟", "同事", "老板", "室友", "房东", "我的猫", "我的狗", "朋友", "医生", "老师", "团队", "加入了我们", "加入我们", "过敏", "吃素", "不吃"}
	cueDecided = sentence.Cues{"let's use", "let's go with", "we decided", "i decided", "decided", "we'll use", "i chose", "we chose", "chose", "we went with", "settled on", "we agreed", "i want", "instead of", "switched to", "switch to",
		"postpone", "postponed", "must be kept", "has to be", "decision", "决定", "改成", "就用", "定在", "定为", "改用", "换成", "选了", "拍板", "改到", "推迟", "采用", "定了"}
	cueChange = sentence.Cues{"no longer", "instead of", "not anymore", "anymore", "any more", "switched to", "switch to", "changed to", "moved to", "moved from", "moved back", "replaced", "quit", "left", "stopped", "was too", "rather than", "from now on", "now prefer", "now use",
		"不再", "改用", "改成", "改为", "改到", "换成", "搬到", "搬去", "改了", "换到", "离开", "辞职", "戒了", "不用了", "原来"}
	cueNegative = sentence.Cues{"no longer", "not", "don't", "doesn't", "hate", "dislike", "can't stand", "never", "stopped", "quit", "anymore", "不喜欢", "讨厌", "不再", "不吃", "不喝", "不要", "别", "戒了", "不用"}
	cueOpinion  = sentence.Cues{"^hi", "^hello", "^thanks", "^thank you", "^ok", "^haha", "^lol", "^你好", "^谢谢", "^哈哈", "^早上好", "^晚上好"}
	cueWork     = sentence.Cues{"code", "commit", "branch", "git", "repo", "test", "tests", "file", "files", "tool", "command", "shell", "deploy", "migration", "database", "script", "rm", "sudo", "delete", "api", "build", "lint", "代码", "提交", "分支", "仓库", "测试", "文件", "命令", "脚本", "部署", "删除", "数据库"}
)

// typed decides what kind of memory an owner's sentence is; "" for none.
func typed(s string) kind {
	lower := strings.ToLower(s)
	_, _, dated := resolve(s, anyDay)
	slot, slotted := slotOf(s)
	self := strings.HasPrefix(slot.key, "i ") || strings.HasSuffix(slot.key, " mine") || slot.key == "i name"
	switch {
	case cueLike.In(lower):
		return preference
	case cueSelf.In(lower) && mine(lower) || cueSelfIs.In(lower) || slotted && self && !strings.HasSuffix(slot.key, " mine"):
		return profile
	case cueRule.In(lower) && !question(lower):
		if cueWork.In(lower) {
			return pattern
		}
		return preference
	case slotted && !slot.past, slotted && dated, cueRelation.In(lower):
		return entity
	case cueDecided.In(lower), dated && told(lower):
		return event
	}
	return none
}

// mine reports whether a cue of the own person is said of oneself: "我在" and "我对" alone say little.
func mine(lower string) bool {
	for _, weak := range []string{"我在", "我对"} {
		if strings.Contains(lower, weak) {
			return sentence.Cues{"上班", "工作", "任职", "读书", "过敏"}.In(lower)
		}
	}
	return true
}

// told reports whether a dated sentence tells of an event rather than asking for something.
func told(lower string) bool {
	return !sentence.Cues{"^can you", "^could you", "^please", "^what", "^how", "^show", "^add", "^write", "^look", "^请", "^帮我"}.In(lower)
}

func question(lower string) bool { return strings.ContainsAny(lower[max(0, len(lower)-6):], "?？") }
