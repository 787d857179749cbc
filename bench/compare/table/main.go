// Table runs `skald compare` on the shared transcripts and writes the figures into docs/strategies.md.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/skald-engine/skald/bench/compare"
)

const (
	budget = 16_000
	begin  = "<!-- figures: make bench-strategies -->\n"
	end    = "<!-- end of figures -->\n"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: table SKALD TRANSCRIPTS PAGE")
	}
	files, err := filepath.Glob(filepath.Join(os.Args[2], "*.jsonl"))
	if err != nil || len(files) == 0 {
		log.Printf("no transcripts in %s: nothing is measured", os.Args[2])
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s/%s, %d CPUs; budget %d tokens, no model.\n", time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), budget)
	for _, f := range files {
		if strings.Contains(filepath.Base(f), ".facts.") {
			continue
		}
		r, err := run(os.Args[1], f)
		if err != nil {
			log.Fatal(f, ": ", err)
		}
		write(&b, filepath.Base(f), r)
	}
	if err := replace(os.Args[3], b.String()); err != nil {
		log.Fatal(err)
	}
}

func run(program, file string) (r compare.Report, err error) {
	args := []string{"compare", file, "--budget", fmt.Sprint(budget), "--json"}
	facts := strings.TrimSuffix(file, ".jsonl") + ".facts.json"
	if _, err := os.Stat(facts); err == nil {
		args = append(args, "--questions", facts)
	}
	c := exec.Command(program, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	return r, err
}

func write(b *strings.Builder, name string, r compare.Report) {
	fmt.Fprintf(b, "\n`%s`, %d messages", name, r.Messages)
	if r.Questions > 0 {
		fmt.Fprintf(b, ", %d questions at its end", r.Questions)
	}
	b.WriteString(":\n\n| strategy | tokens sent | not cacheable | prefix kept | publications | largest | over budget | broken pairs | sources of the answers there | tokens before a question |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Rows {
		held, size := "", ""
		if r.Questions > 0 {
			held, size = fmt.Sprintf("%.1f %%", 100*s.Evidence), fmt.Sprint(s.QuestionSize)
		}
		fmt.Fprintf(b, "| `%s` | %d | %d | %.1f %% | %d | %d | %d | %d | %s | %s |\n", s.Strategy, s.Tokens, s.Fresh, 100*s.Prefix, s.Publications,
			s.Largest, s.OverBudget, s.BrokenPairs, held, size) // times hang on what else the machine does: docs/benchmarks.md has them
	}
}

// replace puts the figures between the marks of the page.
func replace(path, figures string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(page, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		return fmt.Errorf("%s has no place for figures", path)
	}
	return os.WriteFile(path, []byte(string(before)+begin+figures+end+string(after)), 0o644)
}
