package static_test

import (
	"strings"
	"testing"

	"github.com/skald-engine/skald/model/static"
)

func TestMeaningIsNearerThanChance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ asked, said, other string }{
		{"what pets does she own", "we took in a little dog last spring", "the invoice is due on Friday"},
		{"how did he get hurt", "I broke my wrist falling off a ladder", "the soup needs more salt"},
		{"他养了什么宠物", "我们去年领养了一只小狗", "发票星期五到期"},
		{"数据库用的哪个", "我们决定改用 PostgreSQL 存储订单", "周末去爬山吧"},
		{"what pets does she own", "她领养了一只猫", "会议改到星期三下午"},
	} {
		q := static.Embed(c.asked)
		if near, far := static.Cosine(q, static.Embed(c.said)), static.Cosine(q, static.Embed(c.other)); near <= far+0.05 {
			t.Errorf("%q: %q scores %.2f, %q %.2f", c.asked, c.said, near, c.other, far)
		}
	}
}

func TestWhatHasNoMeaning(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "  \n", "12345 !?", "the of and", "\xff\xfe", "qqzxv", strings.Repeat("x", 5000)} {
		if v := static.Embed(s); v != nil {
			t.Errorf("%.20q: %v", s, v)
		}
	}
}

func TestSpellingDoesNotMatter(t *testing.T) {
	t.Parallel()
	a := static.Embed("My DOG barks, loudly; ｄｏｇ")
	b := static.Embed("dog (barks) my loudly-dog")
	if c := static.Cosine(a, b); c < 0.999 {
		t.Errorf("cosine %.4f", c)
	}
	if len(a) != static.Dim {
		t.Errorf("%d numbers", len(a))
	}
}

func FuzzEmbed(f *testing.F) {
	f.Add("a dog 狗\xff")
	f.Fuzz(func(t *testing.T, s string) {
		if v := static.Embed(s); v != nil && len(v) != static.Dim {
			t.Errorf("%d numbers", len(v))
		}
	})
}

func BenchmarkEmbed(b *testing.B) {
	text := strings.Repeat("The neighbours took their old dog to the lake on Sunday and came back with a kitten. ", 4)
	static.Embed(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		static.Embed(text)
	}
}

func BenchmarkEmbedChinese(b *testing.B) {
	text := strings.Repeat("邻居星期天带着老狗去了湖边，回来的时候抱着一只小猫。", 6)
	static.Embed(text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		static.Embed(text)
	}
}
