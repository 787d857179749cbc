package recall_test

import (
	"slices"
	"testing"
	"time"

	"github.com/skald-engine/skald"
)

// at puts a turn on a day of 2026; the questions of these tests are asked on Monday, the first of June.
func at(month time.Month, day int) func(*skald.Turn) {
	return func(t *skald.Turn) { t.Time = time.Date(2026, month, day, 9, 0, 0, 0, time.UTC) }
}

// TestTime: a question that names a time finds what was said then, or what tells of it, before the same said at other times.
func TestTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a", skald.RoleUser, "We painted the boat shed green", at(3, 4))
	w.say("b", skald.RoleUser, "We painted the boat shed white", at(4, 15))
	w.say("c", skald.RoleUser, "We painted the boat shed blue", at(5, 20))
	w.say("d", skald.RoleUser, "Yesterday we painted the boat shed red", at(5, 26))
	w.say("e", skald.RoleUser, "We painted the boat shed brown on 14 February", at(5, 30))
	w.say("f", skald.RoleUser, "船棚刷成了灰色", at(1, 10))
	w.say("g", skald.RoleUser, "上周三船棚刷成了黑色", at(1, 26))
	w.say("h", skald.RoleUser, "船棚刷成了粉色", at(5, 27))
	for question, want := range map[string]string{
		"What colour was the boat shed painted on March 4?":        "We painted the boat shed green",
		"What colour was the boat shed painted in April?":          "We painted the boat shed white",
		"What colour was the boat shed painted on 2026-05-20?":     "We painted the boat shed blue",
		"What colour was the boat shed painted on 25 May 2026?":    "Yesterday we painted the boat shed red",
		"What colour was the boat shed painted in February?":       "We painted the boat shed brown on 14 February",
		"What colour was the boat shed painted three months ago?":  "We painted the boat shed green",
		"1月10日船棚刷成了什么颜色":                                           "船棚刷成了灰色",
		"1月21日船棚刷成了什么颜色":                                           "上周三船棚刷成了黑色",
		"上周三船棚刷成了什么颜色":                                             "船棚刷成了粉色",
		"What colour was the boat shed painted on 15 April, 2026?": "We painted the boat shed white",
	} {
		if got := texts(w.recall(question)); len(got) == 0 || got[0] != want {
			t.Errorf("%s\n got %q\nwant %q", question, got, want)
		}
	}
}

// TestWhen: where a question asks for a time, a text that names one stands before the same text without.
func TestWhen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a", skald.RoleUser, "The ferry pass was renewed the day before yesterday", at(5, 2))
	w.say("b", skald.RoleUser, "The ferry pass was renewed without any trouble", at(5, 2))
	got := texts(w.recall("When was the ferry pass renewed?"))
	if !slices.Equal(got, []string{"The ferry pass was renewed the day before yesterday", "The ferry pass was renewed without any trouble"}) {
		t.Errorf("%q", got)
	}
}
