package archive

import (
	"regexp"
	"strings"
)

// A task id is a short letter code with a number at the start of an item or clause (T3, L2, TASK-17).
var (
	taskStart  = regexp.MustCompile(`^(?:\[[ xX]\]\s*)?([A-Z]{1,5}-?\d{1,4})(?:\b|[^A-Za-z0-9.])`)
	taskInside = regexp.MustCompile(`(?:[:：,，、;；(（]\s*|那\s*|取消\s*|完成\s*|关于\s*|把\s*|(?i:about|todo|task|cancel|close|drop|do|add|finish|finished)\s+)([A-Z]{1,2}\d{1,3})(?:$|[\s:：,，.。、；;)）]|[^\x00-\x7F])`)
	taskAny    = regexp.MustCompile(`\b[A-Z]{1,5}-?\d{1,4}\b`)
	checkbox   = regexp.MustCompile(`^\[([ xX])\]`)
)

// taskID is the id of the task that a sentence is about, or "".
func taskID(s string) string {
	if !codeLike(s) {
		return ""
	}
	if m := taskStart.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	if m := taskInside.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

// taskItem reports whether a sentence is an item of a list with boxes.
func taskItem(lower string) bool { return checkbox.MatchString(lower) }

// setTaskStatus reads whether a task is reported done or taken back.
func setTaskStatus(u *unit, lower string) {
	if clause := taskClause(u.text, u.task); clause != "" {
		lower = strings.ToLower(clause)
	}
	m := checkbox.FindStringSubmatch(lower)
	switch {
	case cueCancel.In(lower):
		u.status = StatusReversed
	case m != nil && m[1] != " ", cueDone.In(lower), u.task != "" && shortDone(lower):
		u.status = StatusDone
	}
}

// shortDone reports a Chinese report of completion: a clause of a few characters that ends in 了.
func shortDone(lower string) bool {
	clause, _, _ := strings.Cut(strings.NewReplacer("。", ",", "，", ",", "！", ",").Replace(lower), ",")
	return strings.HasSuffix(strings.TrimSpace(clause), "了") && len([]rune(clause)) <= 16
}

// taskClause is the clause of a sentence that names a task, when the sentence names several; else "".
func taskClause(text, id string) string {
	if id == "" || len(taskAny.FindAllString(text, 2)) < 2 {
		return ""
	}
	for clause := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(",;，；、。", r) }) {
		if strings.Contains(clause, id) {
			return clause
		}
	}
	return ""
}

// codeLike is a cheap test for a capital letter before a digit or dash: most sentences have none, and patterns are slow.
func codeLike(s string) bool {
	for i := 1; i < len(s); i++ {
		if (s[i] >= '0' && s[i] <= '9' || s[i] == '-') && s[i-1] >= 'A' && s[i-1] <= 'Z' {
			return true
		}
	}
	return false
}
