package trial

import (
	"bytes"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
)

// hostile is a conversation that wants to be markup.
func hostile() *talk {
	const bad = `</script></style><script>alert(1)</script><img src="http://example.org/x.png" onerror="alert(2)">`
	a := newTalk(bad+".jsonl").user("The code of my locker is 84-2291 "+bad).agent(bad).
		user("Look").tool("read", `{"path":"<svg onload=alert(3)>.txt"}`, bad+" and more than forty characters of it").agent("{{.}}")
	a.at = a.at.Add(48 * time.Hour)
	return a.filler(30).user("As I said, the code of my locker is 84-2291 "+bad+". Open my locker with its code.").agent("ok").
		user("What is in it?").tool("read", `{"path":"<svg onload=alert(3)>.txt"}`, bad+" and more than forty characters of it").agent("ok")
}

func pageOf(t *testing.T, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPageIsHarmless: whatever the conversations hold is text; the page loads nothing, runs nothing and links to itself only.
func TestPageIsHarmless(t *testing.T) {
	t.Parallel()
	r := run(t, Options{Budget: small}, hostile())
	if len(r.Rereads) == 0 {
		t.Fatal("nothing of the hostile conversation is quoted")
	}
	html := pageOf(t, r)
	for _, tag := range regexp.MustCompile(`(?i)<(script|img|iframe|object|embed|link|base|form|video|audio)\b`).FindAllString(html, -1) {
		t.Errorf("the page holds %s", tag)
	}
	for _, tag := range regexp.MustCompile(`<[a-z][^>]*>`).FindAllString(html, -1) {
		if regexp.MustCompile(`(?i)\son\w+\s*=|(?:src|href|action|data)\s*=\s*"[^#]`).MatchString(tag) {
			t.Errorf("the page acts or loads: %s", tag)
		}
	}
	if !strings.Contains(html, "&lt;svg onload=alert(3)&gt;.txt") {
		t.Error("the hostile path is not shown as text")
	}
	if strings.Contains(html, "url(") || strings.Contains(html, "@import") {
		t.Error("the stylesheet loads something")
	}
}

// TestPageIsWhole: every tag is closed, every link leads to one place, and no place is there twice.
func TestPageIsWhole(t *testing.T) {
	t.Parallel()
	html := pageOf(t, run(t, Options{Budget: small}, hostile(), newTalk("b.jsonl").filler(2)))
	ids, links := map[string]int{}, map[string]bool{}
	dec := xml.NewDecoder(strings.NewReader(html))
	dec.Entity = xml.HTMLEntity
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "id":
				ids[a.Value]++
			case "href":
				links[strings.TrimPrefix(a.Value, "#")] = true
			}
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("the place %s is there %d times", id, n)
		}
	}
	for link := range links {
		if ids[link] == 0 {
			t.Errorf("a link leads to %s, which is not there", link)
		}
	}
	if len(links) == 0 || strings.Count(html, "<polyline") < 6 {
		t.Errorf("%d links, %d lines in charts", len(links), strings.Count(html, "<polyline"))
	}
}

func TestThin(t *testing.T) {
	t.Parallel()
	long := make([]float64, 1000)
	for i := range long {
		long[i] = 5
	}
	got := thin(long)
	if len(got) != chartPoints || got[0] < 4.999 || got[chartPoints-1] > 5.001 {
		t.Errorf("%d points, %v … %v", len(got), got[0], got[len(got)-1])
	}
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1\u202f000", -1234567: "-1\u202f234\u202f567"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %q", n, got)
		}
	}
}
