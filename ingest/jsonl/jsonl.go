// Package jsonl reads conversations from JSON Lines files: one message a line, in the host's message format or as a plain {"role",
// "content"}. docs/import.md documents the format.
package jsonl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
)

const op = "ingest.jsonl"

// Name is what `skald import` calls this source.
const Name = "jsonl"

type source struct {
	files []string
	size  int64
	agent string
}

// Open takes files, and folders whose *.jsonl and *.ndjson files are taken.
func Open(_ context.Context, paths []string, o ingest.OpenOptions) (ingest.Source, error) {
	if len(paths) == 0 {
		return nil, skald.Invalid(op, "path", "is missing: name the files to import, `skald import jsonl FILE...`")
	}
	s := &source{agent: o.Agent}
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, files...)
	}
	for _, file := range s.files {
		info, err := os.Stat(file)
		if err != nil {
			return nil, unreadable(file, err)
		}
		s.size += info.Size()
	}
	return s, nil
}

func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if info.Mode().IsRegular() {
		return []string{path}, nil
	}
	if !info.IsDir() { // it is read twice, and may never end
		return nil, &skald.Error{Op: op, URI: path, Field: "path", Kind: skald.KindInvalid,
			Err: errors.New("a pipe or a device cannot be imported: write what it yields into a file first")}
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if ext := strings.ToLower(filepath.Ext(file)); err == nil && d.Type().IsRegular() && (ext == ".jsonl" || ext == ".ndjson") {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		return nil, unreadable(path, err)
	}
	if len(files) == 0 {
		return nil, &skald.Error{Op: op, URI: path, Field: "path", Kind: skald.KindNotFound,
			Err: errors.New("there is no .jsonl or .ndjson file in this folder")}
	}
	slices.Sort(files)
	return files, nil
}

func unreadable(path string, err error) error {
	kind := skald.KindInvalid
	if errors.Is(err, fs.ErrNotExist) {
		kind = skald.KindNotFound
	}
	return &skald.Error{Op: op, URI: path, Field: "path", Kind: kind, Err: err}
}

// misnamed stands for a file whose name is no text: shown or stored it would become another name.
func misnamed(path string) ingest.Conversation {
	name := strconv.QuoteToASCII(path)
	c := ingest.Conversation{Origin: name, Session: skald.SessionAddress{SessionID: "jsonl-misnamed"}}
	c.Items = func(yield func(ingest.Item, error) bool) {
		yield(ingest.Item{Skipped: "the file's name is not valid UTF-8: rename it", Where: name}, nil)
	}
	return c
}

func (s *source) Name() string { return Name }

// Size is that of all files, in bytes.
func (s *source) Size() int64 { return s.size }

// Conversations yields one conversation for each session of each file.
func (s *source) Conversations(ctx context.Context) iter.Seq2[ingest.Conversation, error] {
	return func(yield func(ingest.Conversation, error) bool) {
		for _, path := range s.files {
			if !utf8.ValidString(path) {
				if !yield(misnamed(path), nil) {
					return
				}
				continue
			}
			parts, err := index(ctx, path)
			if err != nil {
				yield(ingest.Conversation{}, err)
				return
			}
			for _, p := range parts {
				if !yield(s.conversation(path, p), nil) {
					return
				}
			}
		}
	}
}

func (s *source) conversation(path string, p *part) ingest.Conversation {
	c := ingest.Conversation{Origin: path, Size: p.bytes, Session: address(p.session, s.agent)}
	if p.session == "" {
		c.Session = address(named(path, p.first), s.agent)
	} else {
		c.Title = p.session
	}
	c.Items = p.items(path, c.Session.SessionID+c.Session.SessionKey)
	return c
}

// address takes a name of the form agent:<agent>:… for a host's session key, and any other for a session id.
func address(name, agent string) skald.SessionAddress {
	if strings.HasPrefix(name, "agent:") {
		return skald.SessionAddress{SessionKey: name}
	}
	return skald.SessionAddress{SessionID: name, AgentID: agent}
}

// named is the session of a file that names none: the file's name and a digest of its first message, so that a file that grows or
// moves stays the same session.
func named(path string, first []byte) string {
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if !skald.SafeID(base) || len(base) > 64 {
		base = "conversation"
	}
	return "jsonl-" + base + "-" + hex.EncodeToString(first[:4])
}

// digest is a short name of a text's content.
func digest(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum(nil)
}
