// Package compare plays one conversation under several strategies, each over a store of its own, and sets side by side what the model would
// have been given.
package compare

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/evidence"
	"github.com/skald-engine/skald/bench/replay"
	"github.com/skald-engine/skald/message"
)

// Question asks for something that was said in the conversation.
type Question struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	Messages []int  `json:"message_indexes"` // where it was said, from 0
}

// Questions reads a list of them. An error is of KindInvalid.
func Questions(path string, messages int) (list []Question, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, skald.Invalid("compare", "questions", "%s: %w", path, err)
	}
	for n, q := range list {
		if q.Question == "" || len(q.Messages) == 0 {
			return nil, skald.Invalid("compare", "questions", "%s: entry %d has no question or no message_indexes", path, n+1)
		}
		for _, i := range q.Messages {
			if i < 0 || i >= messages {
				return nil, skald.Invalid("compare", "questions", "%s: entry %d names message %d of %d", path, n+1, i, messages)
			}
		}
	}
	return list, nil
}

// Way is a strategy with the engine that plays it.
type Way struct {
	Strategy string
	Target   replay.Target
}

// Row is the outcome of one strategy. Token counts are of serialised messages.
type Row struct {
	Strategy      string  `json:"strategy"`
	Requests      int     `json:"requests"`
	Tokens        int     `json:"tokens"` // of all requests
	Largest       int     `json:"largest_request_tokens"`
	OverBudget    int     `json:"max_over_budget"` // must be 0
	BrokenPairs   int     `json:"broken_pairs"`    // must be 0
	Refused       int     `json:"refused"`
	Prefix        float64 `json:"prefix_share"`         // of a request, that the next one begins with, between publications
	Cacheable     float64 `json:"cacheable_share"`      // of all tokens, by the longest common beginning with an earlier request
	Fresh         int     `json:"tokens_not_cacheable"` // the rest
	Publications  int     `json:"publications"`         // moments at which the view changed
	Evidence      float64 `json:"evidence_share"`       // of the questions' sources that stand in the context of the question, at the end
	Said          float64 `json:"answer_words_share"`   // of the answers' telling words that do
	QuestionSize  int     `json:"question_tokens"`      // mean tokens before a question
	AssembleMS    float64 `json:"assemble_ms_p50"`
	Seconds       float64 `json:"seconds"` // the whole replay
	RequestTokens []int   `json:"request_tokens"`
}

// Report sets the strategies side by side.
type Report struct {
	Messages  int   `json:"messages"`
	Budget    int   `json:"budget"`
	Questions int   `json:"questions"`
	Rows      []Row `json:"strategies"`
}

// Run plays the conversation under each of the ways and asks the questions at its end.
func Run(ctx context.Context, ways []Way, messages []json.RawMessage, questions []Question, budget int) (Report, error) {
	report := Report{Messages: len(messages), Budget: budget, Questions: len(questions)}
	said := texts(messages)
	judge := evidence.NewJudge(conversation(said))
	for _, w := range ways {
		row, err := play(ctx, w, messages, budget)
		if err != nil {
			return report, err
		}
		if err := ask(ctx, w, judge, said, questions, budget, &row); err != nil {
			return report, err
		}
		report.Rows = append(report.Rows, row)
	}
	return report, nil
}

const session = "compared"

func play(ctx context.Context, w Way, messages []json.RawMessage, budget int) (Row, error) {
	row, cached := Row{Strategy: w.Strategy}, 0
	began := time.Now()
	r, err := replay.Play(ctx, w.Target, messages, replay.Options{
		Identity: skald.DefaultIdentity, Session: session, Strategy: w.Strategy, Budget: budget, Compact: replay.CompactAuto,
		Observe: func(c replay.Call) {
			if c.Refused {
				return
			}
			row.RequestTokens = append(row.RequestTokens, c.Tokens)
			row.Tokens += c.Tokens
			cached += c.Longest
		},
	})
	row.Seconds = time.Since(began).Seconds()
	row.Requests, row.Largest, row.OverBudget, row.BrokenPairs, row.Refused = r.Assembles, r.MaxRequest, r.MaxOverBudget, r.BrokenPairs, r.Refused
	row.Prefix, row.Publications, row.AssembleMS = r.PrefixShare, r.Publications, r.AssembleMS.P50
	row.Fresh = row.Tokens - cached
	if row.Tokens > 0 {
		row.Cacheable = float64(cached) / float64(row.Tokens)
	}
	return row, err
}

// ask puts each question as the next prompt of the session; nothing of it stays.
func ask(ctx context.Context, w Way, judge evidence.Judge, said []string, questions []Question, budget int, row *Row) error {
	for _, q := range questions {
		out, err := w.Target.Inspector.DryAssemble(ctx, skald.DefaultIdentity, session, q.Question, budget)
		if err != nil {
			return err
		}
		asked, context := evidence.Question{Question: q.Question, Answer: q.Answer}, shown(out.Messages)
		for _, i := range q.Messages {
			if judge.Shows(asked, said[i], context) {
				row.Evidence += 1 / float64(len(q.Messages)*len(questions))
			}
		}
		words, _ := judge.Answer(asked, context)
		row.Said += words / float64(len(questions))
		row.QuestionSize += out.EstimatedTokens / len(questions)
	}
	return nil
}

func shown(list []json.RawMessage) string {
	var b strings.Builder
	for _, m := range list {
		b.WriteString(read(m) + "\n" + string(m) + "\n")
	}
	return b.String()
}

// conversation is one session of these texts.
func conversation(said []string) evidence.Conversation {
	var s evidence.Session
	for _, t := range said {
		s.Messages = append(s.Messages, evidence.Message{Text: t})
	}
	return evidence.Conversation{Sessions: []evidence.Session{s}}
}

func texts(list []json.RawMessage) (out []string) {
	for _, m := range list {
		out = append(out, read(m))
	}
	return out
}

func read(raw json.RawMessage) string {
	m, err := message.Parse(raw)
	if err != nil {
		return ""
	}
	return m.Text()
}
