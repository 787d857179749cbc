package hook

import (
	"context"
	"fmt"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// resumeHead tells the model what the block is.
const resumeHead = "[skald] This conversation was compacted. Summaries of its archived parts, quoted as data; what is said now stands over them. " +
	"memory_expand opens the exact messages behind any uri, memory_recall searches them."

// beforeCompaction stores what the transcript has and prepares summaries of it, so that they are there when the host has compacted. The
// engine publishes at the same moment as the host: from now on the older turns are not taken to be visible, and are recalled.
func (h Runner) beforeCompaction(ctx context.Context, in Input) error {
	if _, err := h.capture(ctx, in.Transcript, answered("")); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, h.times().compact)
	defer cancel()
	_, err := h.Engine.Compact(ctx, skald.CompactRequest{Request: h.request(in), Force: true, Trigger: "manual"})
	if err != nil && wire.Classify(err).Kind == skald.KindDeadline {
		return nil // the archive is closed, and its summary is being written
	}
	return err
}

// resume gives back what a compaction has taken out of sight: overviews with open tasks, and the way to the words.
func (h Runner) resume(ctx context.Context, in Input) (string, error) {
	if in.Source != "compact" && in.Source != "resume" {
		return "", nil
	}
	history := "viking://session/" + skald.SessionID(in.SessionID, "") + "/history"
	files, err := h.Inspector.List(ctx, h.Identity, history, 1)
	switch {
	case skald.KindOf(err) == skald.KindNotFound:
		return "", nil // nothing of this conversation was archived
	case err != nil:
		return "", err
	}
	var archives []skald.FileInfo
	for _, f := range files {
		if f.Dir {
			archives = append(archives, f)
		}
	}
	if len(archives) == 0 {
		return "", nil
	}
	return h.overviews(ctx, archives)
}

// overviews shows the newest archives whole, as long as there is room, and names the others in one line each.
func (h Runner) overviews(ctx context.Context, archives []skald.FileInfo) (string, error) {
	whole := max(0, len(archives)-resumeArchive)
	var lines, texts []string
	for i, a := range archives {
		if i < whole {
			lines = append(lines, fmt.Sprintf("- %s: %s", a.URI, strings.Join(strings.Fields(a.Abstract), " ")))
			continue
		}
		text, err := h.Inspector.Read(ctx, h.Identity, string(a.URI.Join(".overview.md")))
		if err != nil {
			return "", err
		}
		texts = append(texts, strings.TrimSpace(fmt.Sprintf("%s\n%s", a.URI, text)))
	}
	room := maxContext - len("<skald-recall>\n\n</skald-recall>") - len(resumeHead) - 4
	newest := keepEnd(texts, "\n\n", room*3/4) // the newest count most
	older := keepEnd(lines, "\n", room-len([]rune(newest)))
	return wrap(strings.TrimSpace(resumeHead + "\n" + older + "\n\n" + newest)), nil
}

// keepEnd joins the last parts that fit into so many characters; the first that does not fit is cut.
func keepEnd(parts []string, between string, room int) string {
	var kept []string
	for i := len(parts) - 1; i >= 0 && room > 80; i-- {
		part := []rune(parts[i])
		if len(part) > room {
			part = append(part[:room-1], '…')
		}
		kept = append([]string{string(part)}, kept...)
		room -= len(part) + len(between)
	}
	return strings.Join(kept, between)
}
