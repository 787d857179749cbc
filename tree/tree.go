// Package tree keeps the files of the viking:// tree: resources, skills and notes. Every change is one transaction over the file, the folders
// above it and its documents in the index, so that what is listed can be found and what is gone cannot.
package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
)

// The reserved names of a folder's L0 and L1. They are no files: a folder carries both texts itself.
const (
	AbstractName = index.AbstractName
	OverviewName = index.OverviewName
)

// ScopeOf says in which of the identity's scopes a canonical URI lies. KindPermission when it lies in none.
func ScopeOf(policy skald.Policy, id skald.Identity, uri skald.URI) (skald.Scope, error) {
	var best skald.Scope
	for _, s := range policy.Readable(id) {
		root := s.RootURI()
		if (uri == root || strings.HasPrefix(string(uri), string(root)+"/")) && (best.Account == "" || len(root) > len(best.RootURI())) {
			best = s
		}
	}
	if best.Account == "" {
		return best, &skald.Error{Op: "tree.scope", URI: string(uri), Field: "uri", Kind: skald.KindPermission}
	}
	return best, nil
}

// Put stores f with its missing folders and indexes it. Size and Hash are worked out here, and Abstract when it is empty; Created is kept
// when the file is replaced. The texts of the folder above become stale. KindConflict where a folder stands in a file's way, or a file in
// a folder's.
func Put(tx skald.Tx, f skald.File) error {
	if err := folders(tx, f.Scope, f.URI.Parent(), f.Modified); err != nil {
		return err
	}
	switch old, err := tx.File(f.Scope, f.URI); {
	case err == nil && old.Dir != f.Dir:
		return &skald.Error{Op: "tree.put", URI: string(f.URI), Field: "uri", Kind: skald.KindConflict, Err: errOther}
	case err == nil:
		f.Created = old.Created
	case skald.KindOf(err) != skald.KindNotFound:
		return err
	}
	if f.Created.IsZero() {
		f.Created = f.Modified
	}
	if f.Dir {
		f.Body, f.Size, f.Hash = nil, 0, ""
	} else {
		sum := sha256.Sum256(f.Body)
		f.Size, f.Hash = int64(len(f.Body)), hex.EncodeToString(sum[:])
		if f.Abstract == "" {
			f.Abstract = Line(Text(f))
		}
	}
	if err := tx.PutFile(f); err != nil {
		return err
	}
	if err := Index(tx, f); err != nil {
		return err
	}
	return outdate(tx, f)
}

// outdate makes stale what f changes: the folder above, and a folder's own missing texts.
func outdate(tx skald.Tx, f skald.File) error {
	if f.Dir && (f.Abstract == "" || f.Overview == "") {
		if err := Stale(tx, f.Scope, f.URI, f.Modified); err != nil {
			return err
		}
	}
	return Stale(tx, f.Scope, f.URI.Parent(), f.Modified)
}

// folders makes the folders from a scope's root down to uri that are missing.
func folders(tx skald.Tx, scope skald.Scope, uri skald.URI, now time.Time) error {
	root := scope.RootURI()
	if uri == root || !strings.HasPrefix(string(uri), string(root)+"/") {
		return nil
	}
	switch f, err := tx.File(scope, uri); {
	case err == nil && !f.Dir:
		return &skald.Error{Op: "tree.put", URI: string(uri), Field: "uri", Kind: skald.KindConflict, Err: errNoFolder}
	case err == nil:
		return nil
	case skald.KindOf(err) != skald.KindNotFound:
		return err
	}
	if err := folders(tx, scope, uri.Parent(), now); err != nil {
		return err
	}
	f := skald.File{Scope: scope, URI: uri, Dir: true, Created: now, Modified: now}
	if err := tx.PutFile(f); err != nil {
		return err
	}
	return outdate(tx, f)
}

// Index makes the documents of a file anew: of its text, or of a folder's abstract and overview.
func Index(tx skald.Tx, f skald.File) error {
	if !f.Dir {
		return put(tx, f, f.URI, Text(f))
	}
	if err := put(tx, f, f.URI.Join(AbstractName), f.Abstract); err != nil {
		return err
	}
	return put(tx, f, f.URI.Join(OverviewName), f.Overview)
}

func put(tx skald.Tx, f skald.File, uri skald.URI, text string) error {
	if err := tx.DeleteURIDocs(f.Scope, uri); err != nil {
		return err
	}
	docs := index.DocsOfText(skald.Doc{Scope: f.Scope, Kind: KindOf(uri), URI: uri, Time: f.Modified, Origin: skald.OriginSystem}, text)
	return tx.PutDocs(index.Marked(docs[:min(len(docs), index.MaxFilePassages)], f.Tags))
}

// Text is what is indexed and shown of a file: its content when that is text, else "".
func Text(f skald.File) string { return index.FileText(f, f.URI) }

// KindOf is the kind of the documents of a URI.
func KindOf(uri skald.URI) skald.DocKind {
	parts := strings.Split(strings.TrimPrefix(string(uri), string(skald.Root)), "/")
	for i, p := range parts {
		if p == "skills" && i > 0 && i <= 4 && parts[0] != "resources" {
			return skald.DocSkill
		}
	}
	return skald.DocResource
}

// Delete removes a file, or a folder with all below it, from tree and index, and says how many nodes went.
func Delete(tx skald.Tx, scope skald.Scope, uri skald.URI) (int, error) {
	list, err := tx.Files(skald.FileQuery{Scopes: []skald.Scope{scope}, Under: uri})
	if err != nil {
		return 0, err
	}
	uris := []skald.URI{uri, uri.Join(AbstractName), uri.Join(OverviewName)}
	for _, f := range list {
		uris = append(uris, f.URI)
		if f.Dir {
			uris = append(uris, f.URI.Join(AbstractName), f.URI.Join(OverviewName))
		}
	}
	for _, u := range uris {
		if err := tx.DeleteURIDocs(scope, u); err != nil {
			return 0, err
		}
	}
	for _, f := range list {
		if f.Dir {
			if err := tx.DeleteRecord(scope, staleKind, string(f.URI)); err != nil {
				return 0, err
			}
		}
	}
	if err := tx.DeleteRecord(scope, staleKind, string(uri)); err != nil {
		return 0, err
	}
	n, err := tx.DeleteFiles(scope, uri)
	if err != nil || n == 0 {
		return n, err
	}
	return n, Stale(tx, scope, uri.Parent(), time.Now())
}
