package cli

import (
	"io"

	"github.com/spf13/cobra"
)

func (s *shell) cat() *cobra.Command {
	c := &cobra.Command{
		Use: "cat URI", Short: "Print a file of the viking:// tree", Args: arguments("URI"),
		Example: "  skald cat viking://user/memories/profile.md",
		RunE: func(c *cobra.Command, args []string) error {
			return s.use(c.Context(), func(p *place) error {
				text, err := p.Read(c.Context(), p.id, args[0])
				if err != nil {
					return err
				}
				file := struct {
					URI  string `json:"uri"`
					Text string `json:"text"`
				}{args[0], text}
				return s.print(file, func(w io.Writer) { _, _ = io.WriteString(w, endLine(text)) })
			})
		},
	}
	s.whereFlags(c)
	return c
}

func endLine(text string) string {
	if text == "" || text[len(text)-1] == '\n' {
		return text
	}
	return text + "\n"
}
