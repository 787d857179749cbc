package enginebench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ResidentMB is the resident memory of a process, in MB of 1024 KB.
func ResidentMB(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return round(kb / 1024), err
		}
	}
	return 0, fmt.Errorf("process %d tells no resident memory", pid)
}
