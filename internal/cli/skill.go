package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/skill"
)

// shelf is where skills are kept: in a data folder, or at a daemon.
type shelf interface {
	Add(ctx context.Context, id skald.Identity, target string, list []skill.Bundle, source json.RawMessage) ([]skill.Info, error)
	List(ctx context.Context, id skald.Identity, target string, limit int) ([]skill.Info, error)
	Get(ctx context.Context, id skald.Identity, target, name string) (skill.Details, error)
	Remove(ctx context.Context, id skald.Identity, target, name string) (skald.URI, int, error)
	Find(ctx context.Context, id skald.Identity, q skill.Query) ([]skill.Found, error)
}

func (s *shell) skill() *cobra.Command {
	c := &cobra.Command{
		Use: "skill", Short: "Add, list, find and check skills",
		Example: "  skald skill add ./my-skill\n  skald skill find \"moor a barge\"\n  skald skill validate ./my-skill --strict",
	}
	c.AddCommand(s.skillAdd(), s.skillList(), s.skillShow(), s.skillFind(), s.skillValidate(), s.skillRemove())
	return c
}

// onShelf opens the place and hands over its skills.
func (s *shell) onShelf(c *cobra.Command, do func(p *place, skills shelf) error) error {
	return s.use(c.Context(), func(p *place) error {
		if p.app != nil {
			return do(p, p.app.Skills())
		}
		daemon, ok := p.Engine.(*client.Client)
		if !ok {
			return skald.E("skill", skald.KindInternal, "no skills here")
		}
		return do(p, daemon.Skills())
	})
}

func (s *shell) targetFlag(c *cobra.Command, target *string) {
	c.Flags().StringVar(target, "target", "", "the folder of skills: viking://~/skills (yours) or viking://agent/skills (shared)")
	s.whereFlags(c)
}

func (s *shell) skillAdd() *cobra.Command {
	var target string
	c := &cobra.Command{
		Use: "add SOURCE", Short: "Store the skills of a folder, a zip archive or a SKILL.md", Args: arguments("SOURCE"),
		Long:    "Store the skills of a folder, a zip archive or a SKILL.md. A skill of the same name is replaced, with all its files.",
		Example: "  skald skill add ./my-skill\n  skald skill add skills.zip --target viking://agent/skills",
		RunE: func(c *cobra.Command, args []string) error {
			list, err := skill.Load(args[0])
			if err != nil {
				return err
			}
			source, err := json.Marshal(map[string]string{"type": "file", "original_filename": filepath.Base(args[0])})
			if err != nil {
				return err
			}
			return s.onShelf(c, func(p *place, skills shelf) error {
				added, err := skills.Add(c.Context(), p.id, target, list, source)
				if err != nil {
					return err
				}
				return s.print(skillRows(added), func(w io.Writer) {
					for _, i := range added {
						fmt.Fprintf(w, "stored %s\n", i.URI)
					}
				})
			})
		},
	}
	s.targetFlag(c, &target)
	return c
}

// skillRow is a skill in --json.
type skillRow struct {
	Name         string    `json:"name"`
	URI          skald.URI `json:"uri"`
	Description  string    `json:"description"`
	Tags         []string  `json:"tags"`
	AllowedTools []string  `json:"allowed_tools"`
}

func skillRows(list []skill.Info) []skillRow {
	out := make([]skillRow, len(list))
	for i, s := range list {
		out[i] = rowOf(s)
	}
	return out
}

func rowOf(i skill.Info) skillRow {
	return skillRow{i.Name, i.URI, i.Description, list(i.Tags), list(i.AllowedTools)}
}

func (s *shell) skillList() *cobra.Command {
	var target string
	c := &cobra.Command{
		Use: "list", Short: "List skills", Args: cobra.NoArgs, Example: "  skald skill list\n  skald skill list --target viking://agent/skills",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.onShelf(c, func(p *place, skills shelf) error {
				found, err := skills.List(c.Context(), p.id, target, 0)
				if err != nil {
					return err
				}
				return s.print(skillRows(found), func(w io.Writer) {
					rows := [][]string{}
					for _, i := range found {
						rows = append(rows, []string{i.Name, string(i.URI), line(i.Description, 80)})
					}
					table(w, rows)
				})
			})
		},
	}
	s.targetFlag(c, &target)
	return c
}

func (s *shell) skillShow() *cobra.Command {
	var target string
	c := &cobra.Command{
		Use: "show NAME", Short: "Print a skill's SKILL.md, and list its files", Args: arguments("NAME"), Example: "  skald skill show mooring",
		RunE: func(c *cobra.Command, args []string) error {
			return s.onShelf(c, func(p *place, skills shelf) error {
				d, err := skills.Get(c.Context(), p.id, target, args[0])
				if err != nil {
					return err
				}
				files := []string{}
				for _, f := range d.Files {
					if !f.Dir {
						files = append(files, strings.TrimPrefix(string(f.URI), string(d.URI)+"/"))
					}
				}
				shown := struct {
					skillRow
					Content string   `json:"content"`
					Files   []string `json:"files"`
				}{rowOf(d.Info), string(d.Content), files}
				return s.print(shown, func(w io.Writer) {
					fmt.Fprintf(w, "%s\n\n%s\nfiles: %s\n", d.URI, endLine(string(d.Content)), strings.Join(files, ", "))
				})
			})
		},
	}
	s.targetFlag(c, &target)
	return c
}

func (s *shell) skillFind() *cobra.Command {
	q := skill.Query{}
	c := &cobra.Command{
		Use: "find QUERY", Short: "Search skills by what they are for", Args: arguments("QUERY"), Example: "  skald skill find \"moor a barge\"",
		RunE: func(c *cobra.Command, args []string) error {
			if err := within("limit", int64(q.Limit), 1, 1000); err != nil {
				return err
			}
			q.Text = args[0]
			return s.onShelf(c, func(p *place, skills shelf) error {
				found, err := skills.Find(c.Context(), p.id, q)
				if err != nil {
					return err
				}
				type hit struct {
					skillRow
					Score float64   `json:"score"`
					Hit   skald.URI `json:"hit"`
					Text  string    `json:"text"`
				}
				hits := make([]hit, len(found))
				for i, f := range found {
					hits[i] = hit{rowOf(f.Info), f.Score, f.Hit, f.Text}
				}
				return s.print(hits, func(w io.Writer) {
					if len(hits) == 0 {
						fmt.Fprintln(w, "nothing found")
					}
					for _, h := range hits {
						fmt.Fprintf(w, "%.3f  %s\n       %s\n", h.Score, h.URI, line(h.Description, 200))
					}
				})
			})
		},
	}
	c.Flags().IntVar(&q.Limit, "limit", 10, "at most so many skills")
	s.targetFlag(c, &q.Target)
	return c
}

func (s *shell) skillRemove() *cobra.Command {
	var target string
	c := &cobra.Command{
		Use: "remove NAME", Short: "Delete a skill with all its files", Args: arguments("NAME"), Example: "  skald skill remove mooring",
		RunE: func(c *cobra.Command, args []string) error {
			return s.onShelf(c, func(p *place, skills shelf) error {
				uri, count, err := skills.Remove(c.Context(), p.id, target, args[0])
				if err != nil {
					return err
				}
				gone := struct {
					URI   skald.URI `json:"uri"`
					Count int       `json:"deleted"`
				}{uri, count}
				return s.print(gone, func(w io.Writer) { fmt.Fprintf(w, "removed %s: %d files and folders\n", uri, count) })
			})
		},
	}
	s.targetFlag(c, &target)
	return c
}

func (s *shell) skillValidate() *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use: "validate SOURCE", Short: "Check a SKILL.md, or the one of a folder, without storing it", Args: arguments("SOURCE"),
		Example: "  skald skill validate ./my-skill\n  skald skill validate SKILL.md --strict",
		RunE: func(_ *cobra.Command, args []string) error {
			path, dir := args[0], ""
			if about, err := os.Stat(path); err == nil && about.IsDir() {
				full, err := filepath.Abs(path)
				if err != nil {
					return skald.Invalid("", "SOURCE", "%w", err)
				}
				path, dir = filepath.Join(path, skill.Main), filepath.Base(full)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return skald.Invalid("", "SOURCE", "%w", err)
			}
			data, err := json.Marshal(string(text))
			if err != nil {
				return err
			}
			r := skill.Validate(data, strict, dir, args[0])
			if err := s.print(r, func(w io.Writer) { showReport(w, r) }); err != nil || r.Valid {
				return err
			}
			return skald.Invalid("", "SOURCE", "%s is no valid skill: %s", args[0], r.Errors[0].Message)
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "make errors of warnings")
	return c
}

func showReport(w io.Writer, r skill.Report) {
	for _, list := range []struct {
		what   string
		issues []skill.Issue
	}{{"error", r.Errors}, {"warning", r.Warnings}} {
		for _, i := range list.issues {
			fmt.Fprintf(w, "%s: %s: %s\n", list.what, i.Field, i.Message)
		}
	}
	if r.Valid {
		fmt.Fprintf(w, "%s is valid\n", cmp.Or(r.Name, "the skill"))
	}
}
