package openclaw

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// MinVersion is the first host version that calls commitTurn (spec/04, 5.1).
const MinVersion = "2026.8.1"

// IDs are the plugin's ids in its two builds; slot value and engine id are the same (PLG-03).
var IDs = []string{"skald", "openviking"}

// Config is the part of openclaw.json that Skald looks at. Secrets are not in it.
type Config struct {
	Meta struct {
		LastTouchedVersion string `json:"lastTouchedVersion"`
	} `json:"meta"`
	Plugins Plugins `json:"plugins"`
}

// Plugins is the section of that name.
type Plugins struct {
	Enabled *bool    `json:"enabled"`
	Allow   []string `json:"allow"`
	Deny    []string `json:"deny"`
	Slots   struct {
		ContextEngine string `json:"contextEngine"`
		Memory        string `json:"memory"`
	} `json:"slots"`
	Load struct {
		Paths []string `json:"paths"`
	} `json:"load"`
	Entries map[string]Entry `json:"entries"`
}

// Entry is plugins.entries.<id>.
type Entry struct {
	Enabled *bool `json:"enabled"`
	Hooks   struct {
		AllowConversationAccess *bool `json:"allowConversationAccess"`
	} `json:"hooks"`
	Config map[string]any `json:"config"`
}

// Read reads the host's configuration, JSON or JSON5.
func (l Location) Read() (c Config, err error) {
	text, err := os.ReadFile(l.Config)
	if err != nil {
		return c, err
	}
	return c, Unmarshal(text, &c)
}

// Older compares host versions of three numbers; what follows a dash does not count.
func Older(a, b string) bool { return slices.Compare(numbers(a), numbers(b)) < 0 }

func numbers(v string) (list []int) {
	v, _, _ = strings.Cut(v, "-")
	for part := range strings.SplitSeq(v, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		list = append(list, n)
	}
	return list
}
