// Command table measures recall on the development files of the evidence data and writes the figures into a section of a document,
// between two marker comments. The data lie outside the repository: where they are missing it says so and leaves the document alone.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/skald-engine/skald/bench/evidence"
)

const (
	begin = "<!-- evidence: written by make bench-evidence -->"
	end   = "<!-- evidence: end -->"
)

func main() {
	skald := flag.String("skald", "bin/skald", "the binary that is measured")
	data := flag.String("data", "../shared/data/evidence", "folder of the data")
	files := flag.String("files", "locomo-dev,paraphrase-dev,zh-dev,beam100k-dev,beam500k-dev", "files, without .jsonl.gz")
	budgets := flag.String("budgets", "500,1000,2000", "tokens of what is shown")
	doc := flag.String("doc", "docs/benchmarks.md", "document with the markers")
	flag.Parse()
	if err := run(*skald, *data, strings.Split(*files, ","), *budgets, *doc); err != nil {
		fmt.Fprintln(os.Stderr, "bench-evidence:", err)
		os.Exit(1)
	}
}

func run(skald, data string, files []string, budgets, doc string) error {
	var rows, left []string
	for _, name := range files {
		path := filepath.Join(data, name+".jsonl.gz")
		if _, err := os.Stat(path); err != nil {
			left = append(left, name)
			continue
		}
		list, err := measure(skald, path, budgets)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, r := range list {
			rows = append(rows, row(name, r))
		}
	}
	if len(rows) == 0 {
		fmt.Fprintf(os.Stderr, "bench-evidence: skipped: no data in %s (%s)\n", data, strings.Join(left, ", "))
		return nil
	}
	return write(doc, section(rows, left))
}

// measure runs the binary; what it reports on the way goes to our stderr.
func measure(skald, path, budgets string) (list []evidence.Report, err error) {
	c := exec.Command(skald, "bench", "evidence", "--data", path, "--budget", budgets, "--json")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(out), []byte("[")) {
		return list, json.Unmarshal(out, &list)
	}
	list = make([]evidence.Report, 1)
	return list, json.Unmarshal(out, &list[0])
}

func row(name string, r evidence.Report) string {
	none := "-"
	if r.NoEvidence.Questions > 0 {
		none = fmt.Sprintf("%.0f", r.NoEvidence.MeanTokens)
	}
	return fmt.Sprintf("| %s | %d | %.1f | %.1f | %.1f | %.0f | %s | %.0f / %.0f | %d |", name, r.Budget, 100*r.Recall, 100*r.AnswerWords,
		100*r.RecallAt10, r.MeanTokens, none, r.Assemble.P50, r.Assemble.P95, r.OverBudget)
}

func section(rows, left []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nMeasured on %s, %d cores (%s/%s), %s.\n\n", begin, time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOOS,
		runtime.GOARCH, runtime.Version())
	b.WriteString("| file | budget, tokens | evidence recall, % | answer words, % | recall@10, % | mean tokens | tokens where nothing answers | " +
		"assemble p50 / p95, ms | over budget |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		b.WriteString(r + "\n")
	}
	if len(left) > 0 {
		fmt.Fprintf(&b, "\nNot measured, since the file was not there: %s.\n", strings.Join(left, ", "))
	}
	return b.String() + "\n" + end
}

// write replaces the section, or appends it where the document has none.
func write(doc, section string) error {
	raw, err := os.ReadFile(doc)
	if err != nil {
		return err
	}
	text := string(raw)
	before, rest, ok := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if ok && closed {
		text = before + section + after
	} else {
		text = strings.TrimRight(text, "\n") + "\n\n## Recall through the engine (`make bench-evidence`)\n\n" + section + "\n"
	}
	return os.WriteFile(doc, []byte(text), 0o644)
}
