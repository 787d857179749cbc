package sentence

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"We use Go 1.26. It is fast! Is it? Yes.", []string{"We use Go 1.26.", "It is fast!", "Is it?", "Yes."}},
		{"See main.go, e.g. line 3. Then stop.", []string{"See main.go, e.g. line 3.", "Then stop."}},
		{"妈妈花粉过敏。所以不要送花！好吗？", []string{"妈妈花粉过敏。", "所以不要送花！", "好吗？"}},
		{"a b\n\n- c d", []string{"a b", "- c d"}},
		{"Dr. Lee lives in St. Ives. OK", []string{"Dr. Lee lives in St. Ives.", "OK"}},
		{"He said \"stop.\" Then left.", []string{"He said \"stop.\"", "Then left."}},
		{"run `a. b. c` now", []string{"run `a. b. c` now"}},
		{"…", nil},
	} {
		if got := Split(c.in); !slices.Equal(got, c.want) {
			t.Errorf("Split(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestLang(t *testing.T) {
	for in, want := range map[string]string{
		"我喜欢用 PostgreSQL 数据库":    "zh",
		"I met 李雷 in the office": "en",
		"这个 спасибо 是什么意思":       "zh",
		"hello":                  "en",
	} {
		if got := Lang(in); got != want {
			t.Errorf("Lang(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	if got := Clip("one two three four", 12); got != "one two…" {
		t.Errorf("got %q", got)
	}
	if got := Clip("short", 12); got != "short" {
		t.Errorf("got %q", got)
	}
}
