package fact

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/skald-engine/skald/bench/evidence"
)

// planted is a fact of a made talk: what is said, by whom, and what is asked about it at the end.
type planted struct {
	role, said, question, answer string
}

// scene is a subject of a made talk: the words of its noise, and its facts in the order they are said.
type scene struct {
	name  string
	files []string
	parts []string
	facts []planted
}

const (
	exchanges = 30 // of one talk
	logLines  = 22 // of one tool result
)

// talk makes a long, tool-heavy conversation in OpenClaw's format: an exchange is a request, one to three calls with long results, and a
// report; every few exchanges one carries a fact. The same scene and seed make the same bytes.
func (s scene) talk(seed uint64) Talk {
	g := &writer{scene: s, rand: rand.New(rand.NewPCG(seed, 7)), at: 1_772_410_000_000}
	every := exchanges / (len(s.facts) + 2)
	for i, next := 0, 0; i < exchanges; i++ {
		if i%every == 1 && next < len(s.facts) {
			g.fact(i, s.facts[next])
			next++
			continue
		}
		g.exchange(i, "", "", "")
	}
	return Talk{Name: s.name, Messages: g.out, Facts: g.facts}
}

type writer struct {
	scene scene
	rand  *rand.Rand
	at    int64
	calls int
	out   []json.RawMessage
	facts []evidence.Question
}

func (g *writer) fact(i int, f planted) {
	switch f.role {
	case "user":
		g.exchange(i, f.said, "", "")
	case "tool":
		g.exchange(i, "", f.said, "")
	default:
		g.exchange(i, "", "", f.said)
	}
	at := len(g.out) - 1
	for n, raw := range g.out {
		if strings.Contains(string(raw), quoted(f.said)) {
			at = n
		}
	}
	g.facts = append(g.facts, evidence.Question{Question: f.question, Answer: f.answer, Evidence: []string{strconv.Itoa(at)}})
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw[1 : len(raw)-1])
}

// exchange writes one; what is empty is noise.
func (g *writer) exchange(i int, user, tool, report string) {
	han := strings.HasPrefix(g.scene.name, "zh")
	part, file := g.pick(g.scene.parts), g.pick(g.scene.files)
	if user == "" {
		user = fmt.Sprintf("Please look at %s next and tell me whether %s behaves.", file, part)
		if han {
			user = fmt.Sprintf("接着看一下 %s，%s 正常吗？", file, part)
		}
	}
	g.say("user", text(user))
	calls := 1 + g.rand.IntN(3)
	for n := range calls {
		out := g.log()
		if n == calls-1 && tool != "" {
			lines := strings.Split(out, "\n")
			out = strings.Join(append(append(lines[:logLines/2:logLines/2], tool), lines[logLines/2:]...), "\n")
		}
		g.call(file, out)
	}
	if report == "" {
		report = fmt.Sprintf("I read %s in step %d. %s shows %d entries, all as before, so there is nothing to change in this step.", file, i, part, g.rand.IntN(400))
		if han {
			report = fmt.Sprintf("第 %d 步看了 %s，%s 有 %d 条记录，和之前一样，这一步没有要改的。", i, file, part, g.rand.IntN(400))
		}
	}
	g.say("assistant", text(report))
}

func (g *writer) call(file, out string) {
	g.calls++
	id := fmt.Sprintf("call_%d", g.calls)
	g.say("assistant", []map[string]any{{"type": "toolCall", "id": id, "name": "bash",
		"arguments": map[string]string{"command": fmt.Sprintf("sed -n %d,%dp %s", g.calls, g.calls+40, file)}}})
	g.put(map[string]any{"role": "toolResult", "toolCallId": id, "toolName": "bash", "content": text(out), "isError": false})
}

func (g *writer) log() string {
	lines := make([]string, logLines)
	for i := range lines {
		lines[i] = fmt.Sprintf("2026-03-0%dT%02d:%02d:%02d INFO %s worker=%d took %dms rows=%d", 1+g.rand.IntN(9), g.rand.IntN(24), g.rand.IntN(60),
			g.rand.IntN(60), g.pick(g.scene.parts), g.rand.IntN(9), g.rand.IntN(900), g.rand.IntN(9000))
	}
	return strings.Join(lines, "\n")
}

func (g *writer) pick(list []string) string { return list[g.rand.IntN(len(list))] }

func (g *writer) say(role string, content []map[string]any) {
	m := map[string]any{"role": role, "content": content}
	if role == "assistant" {
		m["stopReason"] = "stop"
		if content[0]["type"] == "toolCall" {
			m["stopReason"] = "toolUse"
		}
	}
	g.put(m)
}

func (g *writer) put(m map[string]any) {
	g.at += 20_000
	m["timestamp"] = g.at
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and numbers
	}
	g.out = append(g.out, raw)
}

func text(s string) []map[string]any { return []map[string]any{{"type": "text", "text": s}} }
