package ovpack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skald-engine/skald/ingest/record"
)

// pack is an opened pack or folder: its sessions and memories, by path.
type pack struct {
	path     string
	sessions []folder
	memories []folder
	files    map[string]record.File
	rest     record.Tally
}

// folder is a session, or a folder of memories.
type folder struct {
	path  string
	files []named // a session's messages: the archives in order, then the open ones; or memories
	meta  *record.File
}

type named struct {
	path string
	record.File
}

// openPack lists a pack. The first part of a path in it is the root's name; what was exported stands under files/, apart from early versions,
// which had it right under the root and wrote "_._" for a leading dot.
func openPack(ctx context.Context, p string) (pack, error) {
	k := pack{path: p, files: map[string]record.File{}, rest: record.Tally{}}
	list, err := record.Archive(ctx, op, p)
	if err != nil {
		return k, err
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		abs = p
	}
	root := filepath.Base(abs)
	if len(list) == 1 && list[0].Name == root { // a file alone: its folder is the session
		root = filepath.Base(filepath.Dir(abs))
	}
	packed := slices.ContainsFunc(list, func(f record.File) bool { return strings.Contains(f.Name, "/_ovpack/") })
	zipped := strings.EqualFold(filepath.Ext(p), ".ovpack") || packed
	sessions, memories := map[string]*folder{}, map[string]*folder{}
	for _, f := range list {
		name := path.Join(root, f.Name)
		if zipped {
			name = inner(f.Name)
		}
		if name == "" {
			continue
		}
		k.files[name] = f
		k.sort(name, f, sessions, memories)
	}
	k.sessions, k.memories = ordered(sessions), ordered(memories)
	for i, s := range k.sessions {
		if m, ok := k.files[path.Join(s.path, ".meta.json")]; ok {
			k.sessions[i].meta = &m
		}
	}
	return k, nil
}

// inner is a member's path without the pack's own frame; "" for what belongs to the frame.
func inner(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		if rest, ok := strings.CutPrefix(p, "_._"); ok {
			parts[i] = "." + rest
		}
	}
	if len(parts) > 1 && parts[1] == "files" {
		parts = append(parts[:1], parts[2:]...)
	}
	if len(parts) < 2 || parts[1] == "_ovpack" {
		return ""
	}
	return path.Join(parts...)
}

var archive = regexp.MustCompile(`^archive_(\d+)$`)

// sort puts a file where it belongs.
func (k *pack) sort(name string, f record.File, sessions, memories map[string]*folder) {
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	switch {
	case base == "messages.jsonl":
		session := dir
		if archive.MatchString(path.Base(dir)) && path.Base(path.Dir(dir)) == "history" {
			session = path.Dir(path.Dir(dir))
		}
		add(sessions, session, name, f)
	case strings.HasPrefix(base, "."):
		if base == ".abstract.md" || base == ".overview.md" {
			k.rest["summary, written by OpenViking: Skald makes its own of the messages"]++
		}
	case memoriesOf(dir) != "" && path.Ext(base) == ".md":
		add(memories, memoriesOf(dir), name, f)
	case strings.Contains(name+"/", "/tool-results/"), base == "memory_diff.json": // read with their messages; made anew
	default:
		k.rest["file that is neither a session nor a memory"]++
	}
}

// memoriesOf is the folder of memories that a folder belongs to, or "".
func memoriesOf(dir string) string {
	parts := strings.Split(dir, "/")
	for i, p := range parts {
		if p == "memories" {
			return path.Join(parts[:i+1]...)
		}
	}
	return ""
}

func add(folders map[string]*folder, key, name string, f record.File) {
	if folders[key] == nil {
		folders[key] = &folder{path: key}
	}
	folders[key].files = append(folders[key].files, named{name, f})
}

func ordered(folders map[string]*folder) []folder {
	var list []folder
	for _, f := range folders {
		slices.SortFunc(f.files, func(a, b named) int {
			return cmp.Or(cmp.Compare(a.number(), b.number()), strings.Compare(a.path, b.path))
		})
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b folder) int { return strings.Compare(a.path, b.path) })
	return list
}

// number is an archive's; the open messages come last. Memories have none.
func (n named) number() int {
	if path.Base(n.path) != "messages.jsonl" {
		return 0
	}
	if m := archive.FindStringSubmatch(path.Base(path.Dir(n.path))); m != nil {
		i, _ := strconv.Atoi(m[1])
		return i
	}
	return int(^uint(0) >> 1)
}

func (f folder) size() (n int64) {
	for _, x := range f.files {
		n += x.Size
	}
	return n
}

// owner names the user or peer whose memories a folder holds.
func (f folder) owner() string {
	name := path.Base(path.Dir(f.path))
	if name == "." || name == "/" {
		return record.Derived(f.path)[:12]
	}
	return name
}

// state is what OpenViking keeps beside a session's messages.
type state struct {
	SessionID string `json:"session_id"`
	CreatedAt string `json:"created_at"`
}

func (f folder) state() (s state) {
	if f.meta == nil {
		return s
	}
	b, err := read(*f.meta, 1<<20)
	if err == nil {
		_ = json.Unmarshal(b, &s)
	}
	return s
}

// sessionID is the session's own, else its folder's name.
func (f folder) sessionID() string { return cmp.Or(f.state().SessionID, path.Base(f.path)) }

func (f folder) created() time.Time { return record.Time(f.state().CreatedAt) }

// read reads a small file as a whole.
func read(f record.File, most int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("more than %d bytes", most)
	}
	return b, err
}
