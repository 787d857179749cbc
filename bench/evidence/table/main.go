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
	"strings"

	"github.com/skald-engine/skald/bench/evidence"
)

const (
	begin = "<!-- evidence: written by make bench-evidence -->"
	end   = "<!-- evidence: end -->"
)

// options are the flags.
type options struct{ skald, data, files, budgets, extra, doc, sample string }

func main() {
	var o options
	flag.StringVar(&o.skald, "skald", "bin/skald", "the binary that is measured")
	flag.StringVar(&o.data, "data", "../shared/data/evidence", "folder of the data")
	flag.StringVar(&o.files, "files", "locomo-dev,paraphrase-dev,zh-dev,beam100k-dev,beam500k-dev", "files, without .jsonl.gz")
	flag.StringVar(&o.budgets, "budgets", "500,1000,2000", "tokens of what is shown")
	flag.StringVar(&o.extra, "extra", "1000", "those of the budgets for mid-session and ablation; empty: neither is measured")
	flag.StringVar(&o.sample, "sample", "20", "questions of each conversation for mid-session and ablation; 0: all")
	flag.StringVar(&o.doc, "doc", "docs/benchmarks.md", "document with the markers")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-evidence:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	var all []measured
	var left []string
	for _, name := range strings.Split(o.files, ",") {
		path := filepath.Join(o.data, name+".jsonl.gz")
		if _, err := os.Stat(path); err != nil {
			left = append(left, name)
			continue
		}
		list, err := measure(o, path)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, r := range list {
			all = append(all, measured{name, r})
		}
	}
	if len(all) == 0 {
		fmt.Fprintf(os.Stderr, "bench-evidence: skipped: no data in %s (%s)\n", o.data, strings.Join(left, ", "))
		return nil
	}
	return write(o.doc, section(all, left))
}

// measure runs the binary; what it reports on the way goes to our stderr.
func measure(o options, path string) (list []evidence.Report, err error) {
	args := []string{"bench", "evidence", "--data", path, "--budget", o.budgets, "--json"}
	if o.extra != "" {
		args = append(args, "--mid-session", "--ablation", "--extra-budget", o.extra, "--sample", o.sample)
	}
	c := exec.Command(o.skald, args...)
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
