package apibench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

const (
	questions = 200
	perWrite  = 200 // entries of one batch write; OpenViking takes 256
)

// finds fills a server with entries (files of some 60 words under viking://resources/bench, 200 to a folder) and measures find at each count,
// until the budget is used up.
func (o Options) finds(ctx context.Context, c *caller, name string, counts []int) (list []Find, err error) {
	ends := time.Now().Add(o.Budget)
	have := 0
	for _, n := range counts {
		if have, err = o.fill(ctx, c, have, n, ends); err != nil {
			return list, fmt.Errorf("%s: %w", name, err)
		}
		if len(list) > 0 && list[len(list)-1].Entries == have || have == 0 {
			break
		}
		f, err := ask(ctx, c, have)
		if err != nil {
			return list, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, f)
		o.say("%s: find at %d entries %.1f / %.1f ms", name, f.Entries, f.P50, f.P95)
	}
	return list, nil
}

// fill writes entries up to a count, or until the time is up, and waits until they are indexed.
func (o Options) fill(ctx context.Context, c *caller, have, want int, ends time.Time) (int, error) {
	for have < want && time.Now().Before(ends) {
		n := min(perWrite, want-have)
		root := fmt.Sprintf("viking://resources/bench/%06d", have)
		if err := c.post(ctx, "/api/v1/fs/mkdir", map[string]string{"uri": root}); err != nil {
			return have, err
		}
		operations := make([]any, n)
		for i := range operations {
			operations[i] = map[string]string{"uri": fmt.Sprintf("%s/%06d.md", root, have+i), "content": prose(uint64(1_000_000+have+i), 60), "mode": "upsert"}
		}
		body := map[string]any{"root_uri": root, "operations": operations, "wait": true, "processing_mode": "vectors_only"}
		if err := c.post(ctx, "/api/v1/content/batch-write", body); err != nil {
			return have, err
		}
		have += n
	}
	return have, nil
}

// ask times questions of three words of an entry each.
func ask(ctx context.Context, c *caller, have int) (Find, error) {
	r := rand.New(rand.NewPCG(7, uint64(have)))
	took := make([]time.Duration, 0, questions)
	for range questions {
		words := strings.Fields(prose(uint64(1_000_000+r.IntN(have)), 60))
		at := r.IntN(len(words) - 3)
		started := time.Now()
		body := map[string]any{"query": strings.Join(words[at:at+3], " "), "target_uri": "viking://resources/bench", "limit": 10}
		if err := c.post(ctx, "/api/v1/search/find", body); err != nil {
			return Find{}, err
		}
		took = append(took, time.Since(started))
	}
	slices.Sort(took)
	at := func(p int) float64 { return float64(took[(len(took)*p+99)/100-1].Microseconds()) / 1000 }
	return Find{Entries: have, P50: at(50), P95: at(95)}, nil
}

// prose is a text of so many words, the same for the same seed: frequent words often, rare ones seldom.
func prose(seed uint64, words int) string {
	r := rand.New(rand.NewPCG(1, seed))
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word(int(float64(vocabulary) * r.Float64() * r.Float64() * r.Float64())))
	}
	return b.String()
}

const vocabulary = 20_000

// word spells a number in syllables.
func word(n int) string {
	const first, second = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for n++; n > 0; n /= len(first) * len(second) {
		k := n % (len(first) * len(second))
		b.WriteByte(first[k/len(second)])
		b.WriteByte(second[k%len(second)])
	}
	return b.String()
}
