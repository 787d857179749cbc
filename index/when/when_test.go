package when_test

import (
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald/index/when"
)

// said is a Wednesday.
var said = time.Date(2024, 5, 15, 14, 30, 0, 0, time.UTC)

func spans(text string, past bool) string {
	var out []string
	for _, s := range when.Spans(text, said, past, 10) {
		out = append(out, s.From.Format("2006-01-02")+"+"+s.To.Sub(s.From).Truncate(when.Day).String()+" "+text[s.Start:s.End])
	}
	return strings.Join(out, "; ")
}

// TestSpans: what a text names is resolved against the day it was said, in English and in Chinese.
func TestSpans(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ text, want string }{
		{"We met on 7 May 2023 at the harbour.", "2023-05-07+24h0m0s 7 May 2023"},
		{"May 7th, 2023 was a Sunday", "2023-05-07+24h0m0s May 7th, 2023"},
		{"It is due 2023-05-07.", "2023-05-07+24h0m0s 2023-05-07"},
		{"the 3rd of July", "2024-07-03+24h0m0s 3rd of July"},
		{"Dec 30", "2023-12-30+24h0m0s Dec 30"},
		{"We moved in May", "2024-05-01+744h0m0s May"},
		{"We may march on", ""},
		{"November was cold", "2023-11-01+720h0m0s November"},
		{"Back in 2019 we", "2019-01-01+8760h0m0s 2019"},
		{"room 2019", ""},
		{"January 2022", "2022-01-01+744h0m0s January 2022"},
		{"Yesterday it rained; the day before yesterday it snowed", "2024-05-14+24h0m0s Yesterday; 2024-05-13+24h0m0s day before yesterday"},
		{"last week", "2024-05-06+168h0m0s last week"},
		{"next weekend", "2024-05-25+48h0m0s next weekend"},
		{"last Friday", "2024-05-10+24h0m0s last Friday"},
		{"on Wednesday", "2024-05-08+24h0m0s on Wednesday"},
		{"last summer", "2023-06-01+2208h0m0s last summer"},
		{"last year", "2023-01-01+8760h0m0s last year"},
		{"two months ago", "2024-02-29+720h0m0s two months ago"},
		{"a couple of days ago", "2024-05-13+24h0m0s a couple of days ago"},
		{"the week before 9 June 2023", "2023-06-02+168h0m0s week before 9 June 2023"},
		{"上周三去了医院", "2024-05-08+24h0m0s 上周三"},
		{"上个星期天", "2024-05-12+24h0m0s 上个星期天"},
		{"下周一上线", "2024-05-20+24h0m0s 下周一"},
		{"周五开会", "2024-05-10+24h0m0s 周五"},
		{"上上周", "2024-04-29+168h0m0s 上上周"},
		{"昨晚没睡好，前天也是", "2024-05-14+24h0m0s 昨晚; 2024-05-13+24h0m0s 前天"},
		{"去年五月三号", "2023-05-03+24h0m0s 去年五月三号"},
		{"2023年12月", "2023-12-01+744h0m0s 2023年12月"},
		{"去年年底", "2023-11-01+1464h0m0s 去年年底"},
		{"去年底搬的家", "2023-11-01+1464h0m0s 去年底"},
		{"5月3日 和 18 号", "2024-05-03+24h0m0s 5月3日; 2024-05-18+24h0m0s 18 号"},
		{"三个月前", "2024-01-31+720h0m0s 三个月前"},
		{"两周以前", "2024-04-28+168h0m0s 两周以前"},
		{"上个月二十一号", "2024-04-21+24h0m0s 上个月二十一号"},
		{"编号是 18，型号 A7", ""},
		{"", ""},
	} {
		if got := spans(x.text, false); got != x.want {
			t.Errorf("%q\n got %s\nwant %s", x.text, got, x.want)
		}
	}
}

// TestSpansOfThePast: a question about what was means the last month or day of that name that has begun.
func TestSpansOfThePast(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"What did she buy in June?": "2023-06-01+720h0m0s June",
		"20 May":                    "2023-05-20+24h0m0s 20 May",
		"六月买了什么":                    "2023-06-01+720h0m0s 六月",
		"18号那天":                     "2024-04-18+24h0m0s 18号",
		"in May":                    "2024-05-01+744h0m0s May",
	} {
		if got := spans(text, true); got != want {
			t.Errorf("%q\n got %s\nwant %s", text, got, want)
		}
	}
}

// FuzzSpans: any bytes are read, and what is named lies within the text.
func FuzzSpans(f *testing.F) {
	f.Add("the week before May 3, 2023 上周三 18号")
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, s := range when.Spans(text, said, false, 50) {
			if s.Start < end || s.End <= s.Start || s.End > len(text) || !s.From.Before(s.To) {
				t.Fatalf("%q: %+v", text, s)
			}
			end = s.End
		}
	})
}
