package analyze

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTerms(t *testing.T) {
	for in, want := range map[string][]string{
		"The cats were running":  {"the", "cat", "were", "run"},
		"ERR_CONN_RESET":         {"err_conn_reset", "err", "conn", "reset"},
		"10.0.3.17":              {"10.0.3.17", "10", "0", "3", "17"},
		"--max-old-space-size":   {"max-old-space-size", "max", "old", "space", "size"},
		"lib/io.ts":              {"lib/io.ts", "lib", "io", "ts"},
		"v3.7,":                  {"v3.7", "v3", "7"},
		"F# C++ C#.":             {"f#", "c++", "c#"},
		"can't":                  {"can't"},
		"Ann's":                  {"ann"},
		"Ann’s":                  {"ann"},
		"key:val":                {"key:val", "key", "val"},
		"TICKET-48213":           {"ticket-48213", "ticket", "48213"},
		"maxOldSpace":            {"maxoldspac", "max", "old", "space"},
		"wait...what":            {"wait", "what"},
		"三棵":                     {"三", "三棵", "棵"},
		"修好lamp-q7x后":            {"修", "修好", "好", "lamp-q7x", "lamp", "q7x", "后"},
		"ｆｕｌｌ　ｗｉｄｔｈ":             {"full", "width"},
		"* ( - ... \"\" --":      nil,
		"Ünïcode":                {"ünïcode"},
		strings.Repeat("a1", 40): {bounded(strings.Repeat("a1", 40))},
	} {
		got := Terms(in)
		if len(got) == 0 {
			got = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Terms(%q): %s", in, diff)
		}
	}
}

func TestQuery(t *testing.T) {
	for in, want := range map[string][]string{
		"What is the port of the staging server?": {"port", "stage", "server"},
		`"as is"`:        {"as", "is"},
		"can't":          {"can't"},
		"dog dog dogs":   {"dog"},
		"":               nil,
		"种":              {"种"},
		"Grafana告警阈值":    {"grafana", "告警", "告", "警", "警阈", "阈", "阈值", "值"},
		"什么时候":           {"么时", "时", "时候", "候"},
		"err_conn_reset": {"err_conn_reset", "err", "conn", "reset"},
	} {
		if diff := cmp.Diff(want, Query(in)); diff != "" {
			t.Errorf("Query(%q): %s", in, diff)
		}
	}
}

// found reports whether every term group of the query meets the text: the whole, or all of its parts.
func found(query, text string) bool {
	terms := Terms(text)
	words := Words(query)
	for _, w := range words {
		if slices.Contains(terms, w.Term) {
			continue
		}
		return false
	}
	return len(words) > 0
}

// CJK-01, CJK-02.
func TestCJK(t *testing.T) {
	texts := []string{"昨晚邻居在阳台上种了三棵薄荷", "来週は渓流釣りに出かける予定です", "내일은 도서관에서 우표수집을 정리한다", "修好lamp-q7x后又亮了"}
	for i, q := range []string{"三棵薄荷", "渓流釣り", "우표수집", "q7x"} {
		for j, text := range texts {
			if found(q, text) != (i == j) {
				t.Errorf("%q in %q: %v", q, text, found(q, text))
			}
		}
	}
	if !found("种", texts[0]) {
		t.Error("a single character is not found")
	}
	if found("告警 邮件", "Grafana Labs") || !found("Grafana告警阈值", "Grafana 的告警阈值在周一") {
		t.Error("CJK-02")
	}
}

// SRC-06.
func TestOddStrings(t *testing.T) {
	text := `cross-check lib/io.ts v3.7 can't F# key:val "as is"`
	for _, q := range []string{"cross-check", "lib/io.ts", "v3.7", "can't", "F#", "key:val", `"as is"`} {
		if !found(q, text) {
			t.Errorf("%q not found", q)
		}
	}
	for _, q := range []string{"*", "(", "-", "", "''", "…", "\x00", "\xff"} {
		if got := Query(q); len(got) != 0 {
			t.Errorf("Query(%q) = %q", q, got)
		}
	}
}

func FuzzTerms(f *testing.F) {
	f.Add("a-b c.d 你好\xff F#")
	f.Fuzz(func(t *testing.T, s string) {
		for _, term := range append(Terms(s), Query(s)...) {
			if term == "" || len(term) > MaxTerm {
				t.Fatalf("term %q", term)
			}
		}
	})
}

func BenchmarkTerms(b *testing.B) {
	words := strings.Fields(`the quick brown fox jumps over a lazy dog while several engineers discuss deployment pipelines and their
		configuration files, which were changed yesterday; nobody noticed until production alerts started firing repeatedly at midnight`)
	text := strings.Repeat(strings.Join(words, " ")+". ", 200)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Terms(text)
	}
}
