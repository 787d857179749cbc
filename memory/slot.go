package memory

import (
	"regexp"
	"strings"
)

// slot is what a statement is about when that can have one value at a time (or, for a list, one list): a newer statement of the
// same slot takes the place of the older one, and of nothing else (MEM-07, MEM-09).
type slot struct {
	key   string // subject and attribute: "nadia residence"
	value string
	list  []string // names, for lists
	joins bool     // adds to the list rather than giving it
	past  bool     // told in the past tense, of a time that is over
}

// form is one way to say an attribute. Groups: s the subject, v the value, o the old value.
type form struct {
	re        *regexp.Regexp
	attribute string
	past      bool
}

const (
	subject = `(?P<s>\bI|\bmy [a-z]+|\p{Lu}[\p{L}'-]+)`
	place   = `(?P<v>\p{Lu}[\p{L}' -]{1,40}?|[a-z][\p{L}' -]{1,40}?)`
	stopAt  = `(?:[.,;!?]|$| (?:and|in|since|because|now|last|this|from|for|with|after|before|until)\b)`
)

var forms = []form{
	{regexp.MustCompile(subject + `(?:'ve| have| has)? (?:just |recently )?(?:moved|relocated) (?:from (?P<o>[\p{L} ]+?) )?to ` + place + stopAt), "residence", false},
	{regexp.MustCompile(subject + `(?: now)? (?:live|lives|'m living|am living|is living|reside|resides) in ` + place + stopAt), "residence", false},
	{regexp.MustCompile(subject + ` (?:lived|used to live|was living) in ` + place + stopAt), "residence", true},
	{regexp.MustCompile(subject + `(?: now)? (?:work|works|'m working|am working|is working) (?:at|for) ` + place + stopAt), "employer", false},
	{regexp.MustCompile(subject + ` (?:worked|used to work) (?:at|for) ` + place + stopAt), "employer", true},
	{regexp.MustCompile(`(?i:my name is|call me|my name's) (?P<v>[\p{L}'-]+)`), "name", false},
	{regexp.MustCompile(`(?i:\bI(?:'m| am)) (?P<v>\d{1,3}) (?i:years old)`), "age", false},
	{regexp.MustCompile(`(?i:my favou?rite (?P<s>[a-z ]+?) (?:is|are)) (?P<v>[^.,;!?]+)`), "favourite", false},
	{regexp.MustCompile(`(?i:my (?P<s>birthday|wife|husband|partner|boss|manager|dog|cat|email|phone|timezone|time zone|editor|laptop|job)(?:'s name)? (?:is|are)) (?P<v>[^.,;!?]+)`), "mine", false},
	{regexp.MustCompile(`(?P<s>我|\p{Han}{1,4}?|[A-Z]\w+) ?(?:现在)?(?:已经)?(?:从(?P<o>\p{Han}{1,6}))?搬(?:到|去|家到)了?(?P<v>\p{Han}{2,6}|\w+)`), "residence", false},
	{regexp.MustCompile(`(?P<s>我|\p{Han}{2,3}?|[A-Z]\w+) ?(?:现在)?住在?(?P<v>\p{Han}{2,6}|[A-Z]\w+)`), "residence", false},
	{regexp.MustCompile(`(?P<s>我|\p{Han}{2,3}?|[A-Z]\w+) ?(?:现在)?在(?P<v>\p{Han}{2,10}|[A-Za-z]\w+) ?(?:工作|上班|任职)`), "employer", false},
	{regexp.MustCompile(`(?:我叫|叫我|我的名字是)(?P<v>\p{Han}{1,4}|\w+)`), "name", false},
	{regexp.MustCompile(`我(?:今年)?(?P<v>\d{1,3}) ?岁`), "age", false},
	{regexp.MustCompile(`我最喜欢的(?P<s>\p{Han}{1,6})是(?P<v>[^,。;!?，；！？]+)`), "favourite", false},
}

var (
	groupForm = regexp.MustCompile(`(?i)(?:my |our |the )?\b(colleagues|coworkers|teammates|team|friends|housemates|flatmates|roommates|kids|children|siblings|pets)\b(?: are|:| is| consists of| =) (.+)`)
	hanGroup  = regexp.MustCompile(`(?:我的|我们的)?(同事|队友|团队|朋友|室友|孩子|宠物)(?:有|是|:|：|包括)(.+)`)
	joinForm  = regexp.MustCompile(`(\p{Lu}[\p{L}'-]*) (?:has |have )?(?:joined|joins) (?:us|the team|our team|my team)`)
	hanJoin   = regexp.MustCompile(`(\p{Han}{2,3}|[A-Z][\w]*) ?(?:也)?加入了?(?:我们|团队)`)
	nameSplit = regexp.MustCompile(`\s*(?:,|、|，|;|\band\b|&|和|以及)\s*`)
)

// slotOf reads a sentence's slot; ok is false when it has none.
func slotOf(s string) (slot, bool) {
	if sl, ok := group(s); ok {
		return sl, true
	}
	for _, f := range forms {
		m := f.re.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		sub, value := "i", ""
		for i, name := range f.re.SubexpNames() {
			switch {
			case name == "s" && m[i] != "":
				sub = strings.ToLower(m[i])
			case name == "v":
				value = normal(m[i])
			}
		}
		if sub == "我" {
			sub = "i"
		}
		return slot{key: sub + " " + f.attribute, value: value, past: f.past}, true
	}
	return slot{}, false
}

// groupKey makes the words for the people one works with one.
func groupKey(word string) string {
	switch word {
	case "colleagues", "coworkers", "teammates", "team", "同事", "队友", "团队":
		return "group work"
	case "housemates", "flatmates", "roommates", "室友":
		return "group home"
	case "kids", "children", "孩子":
		return "group children"
	}
	return "group " + word
}

// group reads a list of people.
func group(s string) (slot, bool) {
	for _, re := range []*regexp.Regexp{joinForm, hanJoin} {
		if m := re.FindStringSubmatch(s); m != nil {
			return slot{key: groupKey("team"), list: []string{normal(m[1])}, joins: true}, true
		}
	}
	for _, re := range []*regexp.Regexp{groupForm, hanGroup} {
		m := re.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		var names []string
		for _, n := range nameSplit.Split(strings.TrimRight(m[2], " .。!！"), -1) {
			if n = normal(n); n != "" && len([]rune(n)) <= 30 {
				names = append(names, n)
			}
		}
		if len(names) > 1 {
			return slot{key: groupKey(strings.ToLower(m[1])), list: names}, true
		}
	}
	return slot{}, false
}
