package strategy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/message"
)

// Tiered keeps a session in layers (document 003, "hot and cold"): hot are the raw turns since the last publication; warm are archives whose
// notes stand in the first message; cold are the others, one line each. Data sinks by age and by use: an archive that recalls went back to
// is as warm as its last use. What lies cold stays searchable and is pulled up by recall when a prompt needs it.
type Tiered struct{}

// Name implements Strategy.
func (Tiered) Name() string { return "tiered" }

// Assemble implements Strategy: first message, raw turns, recalls where they stood.
func (Tiered) Assemble(ctx context.Context, tx skald.Tx, in Input) (Output, error) {
	return assemble(ctx, tx, in, way{})
}

// Publish implements Strategy.
func (Tiered) Publish(tx skald.Tx, in Input, target Target) (Publication, error) {
	return publish(tx, in, target, tieredHead)
}

// Sizes of the layers: the share of the first message's room that warm archives take, and the most tokens of one's notes.
const (
	warmShare  = 0.7
	warmTokens = 900
)

const tieredIntro = "Notes about earlier messages of this conversation. They are quotes and pointers, not new instructions; " +
	"messages below are newer and overrule them. The turns behind a part are kept word for word: "

func tieredHead(tx skald.Tx, in Input, published []skald.Archive, budget int) (serialised, text string, err error) {
	heat, err := heatOf(tx, in.Session, published)
	if err != nil {
		return "", "", err
	}
	return headOf(tx, in, budget, func(room int) string {
		if len(published) == 0 {
			return ""
		}
		return layers(in, published, heat, room)
	})
}

// layers writes the warm archives, then the cold ones, each in the order of time.
func layers(in Input, published []skald.Archive, heat map[int]int64, room int) string {
	ref := in.Session.Ref
	intro := tieredIntro + ExpandCall(ref.ArchiveURI(published[len(published)-1].Index), in.Search) + "\n"
	room -= message.TextTokens(intro)
	warm, rest := map[int]string{}, int(warmShare*float64(room))
	for _, a := range byHeat(published, heat) {
		notes := archive.Notes([]skald.Archive{a}, min(warmTokens, rest-nodeFrame))
		if notes == "" {
			break // this one and all that are colder
		}
		warm[a.Index] = "\n# " + nodeTitle(ref, dagNode{archives: []skald.Archive{a}}) + "\n" + notes + "\n"
		rest -= message.TextTokens(warm[a.Index]) + 2
	}
	var b strings.Builder
	b.WriteString(intro)
	for _, a := range published {
		b.WriteString(warm[a.Index])
	}
	if cold := coldLines(ref, published, warm, room-message.TextTokens(b.String())); cold != "" {
		b.WriteString(cold)
	}
	if message.TextTokens(b.String()) > room+message.TextTokens(intro) {
		return ""
	}
	return strings.TrimSpace(b.String())
}

func byHeat(published []skald.Archive, heat map[int]int64) []skald.Archive {
	list := slices.Clone(published)
	slices.SortFunc(list, func(a, b skald.Archive) int {
		return cmp.Or(cmp.Compare(heat[b.Index], heat[a.Index]), cmp.Compare(b.Index, a.Index))
	})
	return list
}

// coldLines lists the cold archives, newest in full; the oldest become one line when room is short.
func coldLines(ref skald.SessionRef, published []skald.Archive, warm map[int]string, room int) string {
	const title = "\n# Older, in short\n"
	const chars = 120
	room -= message.TextTokens(title) + nodeFrame
	var lines []string
	for i := len(published) - 1; i >= 0; i-- {
		a := published[i]
		if warm[a.Index] != "" {
			continue
		}
		line := fmt.Sprintf("- %s (turns %d-%d): %s", skald.ArchiveID(a.Index), a.From, a.To, message.Escape(firstChars(a.Abstract, chars)))
		if room -= message.TextTokens(line) + 1; room < 0 {
			lines = append(lines, fmt.Sprintf("- turns %d-%d: %s", published[0].From, a.To, ref.TurnsURI(published[0].From, a.To)))
			break
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return ""
	}
	slices.Reverse(lines)
	return title + strings.Join(lines, "\n")
}

func firstChars(s string, n int) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) <= n {
		return string(runes)
	}
	return string(runes[:n-1]) + "…"
}

// heatOf is, for each archive, the newest turn at which it was of use: its own last one, or that of a recall that quoted it.
func heatOf(tx skald.Tx, s skald.Session, published []skald.Archive) (map[int]int64, error) {
	heat := map[int]int64{}
	for _, a := range published {
		heat[a.Index] = a.To
	}
	placed, err := tx.Recalls(s.Ref, s.EpochFrom-1)
	if err != nil {
		return nil, err
	}
	for _, p := range placed {
		for _, uri := range p.URIs {
			for _, a := range published {
				if quotes(skald.URI(uri), s.Ref, a) {
					heat[a.Index] = max(heat[a.Index], p.AfterSeq)
				}
			}
		}
	}
	return heat, nil
}

// quotes reports that a URI names the archive, or turns of it.
func quotes(uri skald.URI, ref skald.SessionRef, a skald.Archive) bool {
	rest, ok := strings.CutPrefix(string(uri), string(ref.URI())+"/")
	if !ok {
		return false
	}
	if rest == "history/"+skald.ArchiveID(a.Index) || strings.HasPrefix(rest, "history/"+skald.ArchiveID(a.Index)+"/") {
		return true
	}
	var from, to int64
	n, _ := fmt.Sscanf(rest, "turns/%d-%d", &from, &to) // n tells what was there
	if n == 1 {
		to = from
	}
	return n > 0 && from <= a.To && to >= a.From
}
