package enginebench

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skald-engine/skald"
)

// marker is the file that tells a folder of this benchmark from anybody's data.
const marker = "skald-bench"

// claim makes the folder ready: it refuses memory, and any data that is not of an earlier run.
func claim(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return skald.Invalid("bench.engine", "data", "%w", err)
	}
	if name := MemoryFileSystem(dir); name != "" {
		return skald.Invalid("bench.engine", "data", "%s is on %s, which is memory: its syncs cost nothing, so the figures would mean nothing. "+
			"Name a folder on a disk", dir, name)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return skald.Invalid("bench.engine", "data", "%w", err)
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, marker)); errors.Is(err, fs.ErrNotExist) {
			return skald.Invalid("bench.engine", "data", "%s is not empty and not of this benchmark: name a new folder", dir)
		}
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, marker), []byte("made by skald bench engine; removed by its next run\n"), 0o600)
}

// folderBytes sums up the store's files.
func folderBytes(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == marker {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}

// loadPrompts reads one prompt a line.
func loadPrompts(path string) ([]string, error) {
	if path == "" {
		return builtinPrompts, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, skald.Invalid("bench.engine", "prompts", "%w", err)
	}
	defer f.Close()
	var list []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			list = append(list, text)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, skald.Invalid("bench.engine", "prompts", "%s: %w", path, err)
	}
	if len(list) == 0 {
		return nil, skald.Invalid("bench.engine", "prompts", "%s holds no prompt", path)
	}
	return list, nil
}
