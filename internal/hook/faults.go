package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/skald-engine/skald"
)

// Fault is something that went wrong in a hook, and that the agent did not notice.
type Fault struct {
	Time    time.Time  `json:"time"`
	Event   string     `json:"event"`
	Session string     `json:"session,omitempty"`
	Kind    skald.Kind `json:"kind"`
	Error   string     `json:"error"`
}

// FaultPath is the log of faults within a data folder, one JSON document a line.
func FaultPath(data string) string { return filepath.Join(data, "claude-hooks.log") }

// maxFaults is the size, in bytes, at which the log loses its older half.
const maxFaults = 128 << 10

// note appends a fault. What goes wrong here has nobody to be told.
func note(data string, f Fault) {
	path := FaultPath(data)
	line, err := json.Marshal(f)
	if err != nil || os.MkdirAll(data, 0o700) != nil {
		return
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxFaults {
		halve(path)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.Write(append(line, '\n'))
}

func halve(path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		return
	}
	_, rest, _ := bytes.Cut(b[len(b)/2:], []byte("\n"))
	_ = os.WriteFile(path, rest, 0o600)
}

// Faults are the newest faults of a data folder, the newest last, at most so many.
func Faults(data string, most int) []Fault {
	list := []Fault{}
	file, err := os.Open(FaultPath(data))
	if err != nil {
		return list
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var f Fault
		if json.Unmarshal(lines.Bytes(), &f) == nil {
			list = append(list, f)
		}
	}
	return list[max(0, len(list)-most):]
}
