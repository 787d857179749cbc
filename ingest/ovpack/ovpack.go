// Package ovpack imports what OpenViking keeps: a pack file (.ovpack, as export and backup make it), or a plain copy of its folders.
package ovpack

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

// Name is the source's name.
const Name = "openviking"

const op = "ingest.openviking"

type source struct {
	packs []pack
	o     ingest.OpenOptions
}

// Open finds sessions and memories: in the paths (packs, folders, or a messages.jsonl), else in OpenViking's own data folder.
func Open(ctx context.Context, paths []string, o ingest.OpenOptions) (ingest.Source, error) {
	given := len(paths) > 0
	if !given {
		paths = places()
	}
	s := &source{o: o}
	for _, p := range paths {
		k, err := openPack(ctx, p)
		switch {
		case err != nil && given:
			return nil, err
		case err != nil:
			continue
		}
		if s.packs = append(s.packs, k); !given {
			break
		}
	}
	if !s.any() {
		return nil, record.Absent(op, paths, len(s.packs) == 0)
	}
	return s, nil
}

// places are where OpenViking keeps its files: in the workspace that its configuration names, else in the usual ones.
func places() []string {
	conf := os.Getenv("OPENVIKING_CONFIG_FILE")
	if conf == "" {
		conf = record.Home(".openviking", "ov.conf")
	}
	var c struct {
		Storage struct {
			Workspace string `json:"workspace"`
		} `json:"storage"`
	}
	if b, err := os.ReadFile(conf); err == nil && json.Unmarshal(b, &c) == nil && c.Storage.Workspace != "" {
		dir := c.Storage.Workspace
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = record.Home(rest)
		}
		return []string{filepath.Join(dir, "viking")}
	}
	return []string{record.Home(".openviking", "data", "viking"), filepath.Join("data", "viking")}
}

func (s *source) any() bool {
	for _, k := range s.packs {
		if len(k.sessions) > 0 || len(k.memories) > 0 {
			return true
		}
	}
	return false
}

// Name is the program's name.
func (s *source) Name() string { return Name }

// Size is the bytes of all messages and memories, unpacked.
func (s *source) Size() (n int64) {
	for _, k := range s.packs {
		for _, c := range k.sessions {
			n += c.size()
		}
		for _, c := range k.memories {
			n += c.size()
		}
	}
	return n
}

// Conversations yields the sessions, then the memories, then what else there is and is not imported.
func (s *source) Conversations(ctx context.Context) iter.Seq2[ingest.Conversation, error] {
	return func(yield func(ingest.Conversation, error) bool) {
		for _, k := range s.packs {
			for _, c := range k.conversations(s.o) {
				if err := ctx.Err(); err != nil {
					yield(ingest.Conversation{}, err)
					return
				}
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

func (k pack) conversations(o ingest.OpenOptions) []ingest.Conversation {
	var list []ingest.Conversation
	for _, c := range k.sessions {
		id := c.sessionID()
		r := reader{pack: k, folder: c, session: id}
		list = append(list, ingest.Conversation{Origin: k.origin(c.path), Session: record.Address(o, id), Started: c.created(), Size: c.size(),
			Items: r.items()})
	}
	for _, c := range k.memories {
		id := fmt.Sprintf("openviking-memories-%s", c.owner())
		list = append(list, ingest.Conversation{Origin: k.origin(c.path), Title: "Memories that OpenViking extracted", Size: c.size(),
			Session: record.Address(o, id), Items: c.notes(id)})
	}
	if items := k.rest.Items(k.path); len(items) > 0 {
		list = append(list, record.Notes(k.path, items...))
	}
	return list
}

func (k pack) origin(path string) string { return filepath.ToSlash(k.path) + "#" + path }
