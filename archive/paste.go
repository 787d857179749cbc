package archive

import "strings"

// pastedRun is how many lines of one shape in a row are a paste (a log, a table, a listing) rather than something said.
const pastedRun = 5

// said leaves out of a text what was pasted into it: runs of lines that all look alike. The turn itself keeps them, and recall finds
// them; a summary of what was said does not quote them.
func said(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) < pastedRun {
		return text
	}
	var kept []string
	for i := 0; i < len(lines); {
		j := i + 1
		for j < len(lines) && alike(lines[i], lines[j]) {
			j++
		}
		if j-i < pastedRun {
			kept = append(kept, lines[i:j]...)
		}
		i = j
	}
	if len(kept) == 0 {
		return lines[0] // nothing but a paste: that it was one is all there is to say
	}
	return strings.Join(kept, "\n")
}

// alike reports that two lines begin in the same shape: digits stand for any digits. Blank lines and list items are like nothing.
func alike(a, b string) bool {
	x, y := shape(a), shape(b)
	return x == y && len(x) >= shapeLength && strings.Contains(x, "0")
}

const shapeLength = 16

// shape is the beginning of a line with every run of digits as one 0.
func shape(line string) string {
	var b strings.Builder
	digits := false
	for _, r := range strings.TrimSpace(line) {
		if r >= '0' && r <= '9' {
			if !digits {
				b.WriteByte('0')
			}
			digits = true
			continue
		}
		digits = false
		b.WriteRune(r)
		if b.Len() >= shapeLength {
			break
		}
	}
	return b.String()
}
