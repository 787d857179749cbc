package cli

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/skald-engine/skald/ingest"
)

// importBar shows how far an import is, on a terminal only.
type importBar struct {
	bar *progressbar.ProgressBar // nil: quiet
}

func (s *shell) progressBar() *importBar {
	if s.json || s.quiet || !s.look(s.err).tty {
		return &importBar{}
	}
	return &importBar{progressbar.NewOptions64(-1, progressbar.OptionSetWriter(s.err), progressbar.OptionSetPredictTime(false),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30),
		progressbar.OptionUseANSICodes(s.env("TERM") != "dumb"))}
}

func (b *importBar) show(p ingest.Progress) {
	if b.bar == nil {
		return
	}
	if p.Total > 0 {
		b.bar.ChangeMax64(p.Total)
	}
	text := fmt.Sprintf("%d messages, %s", p.Messages, size(p.Bytes))
	if p.Remaining > 0 {
		text += ", " + p.Remaining.Round(time.Second).String() + " left"
	}
	b.bar.Describe(text)
	_ = b.bar.Set64(p.Bytes)
}

func (b *importBar) end() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}
