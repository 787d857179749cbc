package resource

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/fetch"
)

// Request asks for an import, with the fields of OpenViking's add_resource. Path and Upload exclude each other, To and Parent too.
type Request struct {
	Path       string `json:"path,omitempty"`        // http(s) address of a page, file or repository
	Upload     string `json:"upload,omitempty"`      // id of an upload
	SourceName string `json:"source_name,omitempty"` // what the uploader calls it; "" the upload's own name
	AddType    string `json:"add_type,omitempty"`    // "git": Path is a repository; "" is told by its form

	To           string `json:"to,omitempty"`     // URI that the resource gets
	Parent       string `json:"parent,omitempty"` // folder that it is put in, under its own name
	CreateParent bool   `json:"create_parent,omitempty"`

	Reason      string `json:"reason,omitempty"`      // kept with the resource, no more: no model reads it
	Instruction string `json:"instruction,omitempty"` // the same

	IgnoreDirs string `json:"ignore_dirs,omitempty"` // names of folders, with commas between
	Include    string `json:"include,omitempty"`     // globs, with commas between
	Exclude    string `json:"exclude,omitempty"`
	Flat       bool   `json:"flat,omitempty"` // preserve_structure false: all files directly below the root

	Strict     bool     `json:"strict,omitempty"`      // one file that cannot be read fails the import
	DropMedia  bool     `json:"drop_media,omitempty"`  // directly_upload_media false: a picture's description is kept, not the picture
	NoOverview bool     `json:"no_overview,omitempty"` // processing_mode vectors_only: no texts about documents are made
	Tags       []string `json:"tags,omitempty"`        // "key=value"
	AppendTags bool     `json:"append_tags,omitempty"` // tag_mode append
	Branch     string   `json:"branch,omitempty"`      // args.branch, of a repository

	Interval float64 `json:"interval,omitempty"` // minutes between repetitions, 0: none
	Paused   bool    `json:"paused,omitempty"`   // is_active false: the watch waits
}

// check is what can be told wrong without asking anybody.
func (r Request) check() (fetch.Filter, error) {
	const op = "resource.add"
	var f fetch.Filter
	var err error
	switch {
	case r.Path == "" && r.Upload == "":
		return f, skald.Invalid(op, "path", "either path or temp_file_id must be given")
	case r.Path != "" && r.Upload != "":
		return f, skald.Invalid(op, "path", "path and temp_file_id exclude each other")
	case r.To != "" && r.Parent != "":
		return f, skald.Invalid(op, "to", "to and parent exclude each other")
	case r.AddType != "" && r.AddType != "git" && r.AddType != "url":
		return f, skald.E(op, skald.KindUnsupported, "add_type %q: Skald knows git and url; connectors of OpenViking are not built", r.AddType)
	case r.Upload != "" && r.Interval > 0:
		return f, skald.Invalid(op, "watch_interval", "an upload does not change: watch an address, or import the file again when it changed")
	case r.Interval < 0 || r.Interval > 60*24*366:
		return f, skald.Invalid(op, "watch_interval", "is in minutes, from 0 (none) to a year")
	}
	for _, t := range r.Tags {
		if k, v, ok := strings.Cut(t, "="); !ok || strings.TrimSpace(k) == "" || strings.TrimSpace(v) == "" {
			return f, skald.Invalid(op, "tags", "%q is not key=value", t)
		}
	}
	f.IgnoreDirs = fetch.Names(r.IgnoreDirs)
	if f.Include, err = fetch.Globs("include", r.Include); err != nil {
		return f, err
	}
	f.Exclude, err = fetch.Globs("exclude", r.Exclude)
	return f, err
}

// way is what of a request changes how a file is written: a file imported in another way is written again.
func (r Request) way() string {
	return fmt.Sprintf("%d|%t|%t", version, r.DropMedia, r.NoOverview)
}

// version of the parsers: when what they make of a file changes, files are written again by the next import.
const version = 1

// Outcome is what an import did: the result of its task.
type Outcome struct {
	Status   string    `json:"status"` // "success", "error"
	RootURI  skald.URI `json:"root_uri"`
	Source   string    `json:"source_path"`
	Meta     Meta      `json:"meta"`
	Errors   []string  `json:"errors"`
	Warnings []string  `json:"warnings,omitempty"`
	// Of a failed one: its kind, and what went wrong.
	Kind    skald.Kind `json:"kind,omitempty"`
	Parsing bool       `json:"parsing,omitempty"` // the files were at fault
	Message string     `json:"message,omitempty"`
}

// Meta counts what an import met. Lists are cut at 200 entries.
type Meta struct {
	Files       int       `json:"file_count"`
	Name        string    `json:"dir_name,omitempty"`
	Revision    string    `json:"revision,omitempty"` // commit of a repository
	Processed   []Handled `json:"processed_files,omitempty"`
	Failed      []Handled `json:"failed_files,omitempty"`
	Unsupported []Handled `json:"unsupported_files,omitempty"`
	Created     int       `json:"created"`   // files that are new
	Updated     int       `json:"updated"`   // files that changed
	Unchanged   int       `json:"unchanged"` // files that were not touched
	Removed     int       `json:"removed"`   // files that are gone
	Entries     int       `json:"entries"`   // nodes of the tree that were written
}

// Handled is one file of an import.
type Handled struct {
	Path   string `json:"path"`
	Parser string `json:"parser,omitempty"`
	Reason string `json:"reason,omitempty"`
}

const maxHandled = 200

func handle(list *[]Handled, h Handled) {
	if len(*list) < maxHandled {
		*list = append(*list, h)
	}
}

func asJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}
