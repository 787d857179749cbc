package archive

import "github.com/skald-engine/skald/archive/sentence"

// What a sentence says about itself, in English and Chinese. The lists are closed-class words of decisions, orders and outcomes,
// never words of a subject.
var (
	cueDecision = sentence.Cues{"let's use", "let us use", "let's go with", "we decided", "i decided", "decided", "we'll use", "we will use",
		"i'll use", "we went with", "went with", "go with", "i choose", "chose", "chosen", "choose", "settled on", "agreed", "approved", "i want",
		"we want", "instead of", "rather than", "switch to", "switched to", "must be", "has to be", "have to be", "make it", "final",
		"decision", "moved to", "postpone", "postponed", "rotated", "renamed", "rejected", "replaced", "keep it", "stick with",
		"决定", "改成", "就用", "定在", "定为", "定了", "选了", "选用", "采用", "就按", "确定", "拍板", "改到", "改为", "改用", "换成", "推迟", "敲定", "同意", "定下", "不做", "砍掉", "就去"}
	cueProposal = sentence.Cues{"suggest", "suggested", "suggests", "propose", "proposed", "should we", "shall i", "shall we", "maybe", "what about",
		"how about", "could we", "we could", "i recommend", "recommend", "would you like", "wanted", "wants", "建议", "要不要", "不如", "提议", "可以考虑", "要不"}
	cueReason = sentence.Cues{"because", "since", "so that", "reason", "reasons", "otherwise", "due to", "that's why", "therefore",
		"因为", "所以", "原因", "否则", "由于", "为了", "不然"}
	cueInstruction = sentence.Cues{"always", "never", "remember", "don't forget", "from now on", "do not", "don't", "make sure", "must",
		"please keep", "no longer", "stop using", "only use", "ask me first", "^only", "rule", "以后", "不要", "记住", "记得", "别再", "务必", "必须", "一律", "永远", "规矩", "规则", "从现在起", "别忘", "尽量"}
	cuePreference = sentence.Cues{"i prefer", "i like", "i love", "i hate", "i dislike", "i can't stand", "my favourite", "my favorite", "i usually",
		"i'm used to", "allergic", "allergy", "vegetarian", "vegan", "我喜欢", "我不喜欢", "我爱", "我讨厌", "我习惯", "习惯", "不吃", "吃素", "过敏", "偏好", "更爱", "忌口", "最爱"}
	cuePerson = sentence.Cues{"my name is", "call me", "i am a", "i'm a", "i am an", "i'm an", "i live in", "i work at", "i work as", "my wife", "my husband", "my mother",
		"my mom", "my father", "my dad", "my sister", "my brother", "my son", "my daughter", "my boss", "my manager", "my colleague", "my colleagues", "my friend",
		"my partner", "my team", "flatmate", "housemate", "roommate", "birthday", "我叫", "叫我", "我是", "我住", "我在", "我妈", "我爸", "妈妈", "爸爸", "老婆", "老公", "妻子", "丈夫",
		"女儿", "儿子", "姐姐", "妹妹", "哥哥", "弟弟", "同事", "老板", "室友", "房东", "生日", "医生", "老师", "客户", "团队"}
	cueTask = sentence.Cues{"todo", "to-do", "to do:", "task", "remind me", "need to", "needs to", "we should", "next step", "next:", "deadline", "due", "by friday",
		"by monday", "by tomorrow", "still open", "待办", "提醒我", "别忘了", "要做", "需要", "截止", "之前要", "下一步", "还没", "帮我记"}
	cueOpen = sentence.Cues{"still open", "open question", "no answer yet", "not decided", "undecided", "to be decided", "to be clarified", "not sure yet", "don't know yet",
		"unclear", "tbd", "need to ask", "will ask", "wants to think about it", "wait for", "waiting for", "还没定", "没定", "没想好", "待定", "待确认", "待讨论", "未定", "不确定", "等回复", "再问", "再说"}
	cueDone = sentence.Cues{"done", "finished", "completed", "closed", "shipped", "merged", "fixed", "resolved", "works now", "passed", "paid", "bought", "✅", "☑",
		"[x]", "完成", "搞定", "好了", "交了", "做完", "已下单", "已交", "买了", "买好", "修好", "办好", "上线了", "发了", "解决了"}
	cueCancel = sentence.Cues{"cancel", "cancelled", "canceled", "drop it", "forget about", "no longer needed", "won't do", "scrap", "abandoned", "取消", "不做了", "不用了", "作废", "算了"}
	cueChange = sentence.Cues{"instead of", "rather than", "no longer", "not anymore", "any more", "anymore", "was too", "moved to", "switch to", "switched to", "changed to", "change it to", "changed from",
		"replaced", "make it", "now", "改成", "改到", "改为", "改用", "不再", "换成", "换到", "改了", "原来", "推迟", "取消"}
	cueError = sentence.Cues{"error", "failed", "failure", "exception", "traceback", "denied", "not found", "cannot", "panic", "timeout", "timed out", "fatal", "refused", "conflict", "panicked", "crashed", "core dumped", "stalled", "hung", "deadlock",
		"duplicate", "skipped", "not sent", "locked", "warn", "warning", "invalid", "missing", "below the limit", "over the limit", "corrupt", "broken", "冲突", "异常", "崩溃", "不匹配", "重复", "警告", "报错", "失败", "错误", "超时", "拒绝"}
	cueFix   = sentence.Cues{"fixed", "fix", "works", "solved", "resolved", "succeeded", "passed", "installed", "adding", "because", "cause", "root cause", "caused by", "came from", "removed it", "removed the", "it is gone", "works on", "raised it", "lowered it", "solved it", "修复", "解决", "已经好了", "好了", "原因", "加了", "因为", "恢复", "正常"}
	cueAgree = sentence.Cues{"^ok", "^okay", "^yes", "^yep", "^yeah", "^sure", "^agreed", "^go", "^go ahead", "^exactly", "^perfect", "^fine", "^do it", "^sounds good", "^great", "^keep it", "^right", "^nice", "^lgtm",
		"^好", "^行", "^可以", "^对", "^嗯", "^没问题", "^就这样", "^同意", "^是的", "^完美", "^就用"}
	cueNo       = sentence.Cues{"^no", "^nope", "^stop", "^wait", "^don't", "^不", "^别", "^算了", "^等等"}
	cueGreeting = sentence.Cues{"^hi", "^hello", "^hey", "^good morning", "^good evening", "^good night", "^thanks", "^thank you", "^thx", "^bye", "^welcome", "^haha", "^lol", "^makes sense", "^got it",
		"^早上好", "^晚上好", "^早安", "^晚安", "^你好", "^您好", "^谢谢", "^多谢", "^辛苦", "^哈哈", "^早。", "^新年快乐", "^再见"}
	cueRequest = sentence.Cues{"i want", "i need", "i'd like", "can you", "could you", "please", "help me", "i'm trying", "i am trying", "we're", "we need", "goal", "plan", "working on", "build", "implement", "solve",
		"帮我", "请", "我想", "我要", "打算", "目标", "计划", "需要你"}
)
