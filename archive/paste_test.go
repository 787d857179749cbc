package archive

import (
	"fmt"
	"strings"
	"testing"
)

// A pasted log is not what somebody said; a list of tasks, prose and short pastes are.
func TestSaid(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 9 {
		fmt.Fprintf(&log, "02:%02d:17 spoke[311]: GET /slots?bay=%d 200 %dms\n", i, i%4, 12+i*7)
	}
	if got := said("Here is the log:\n" + log.String() + "Why is it slow?"); got != "Here is the log:\nWhy is it slow?" {
		t.Errorf("%q", got)
	}
	for _, text := range []string{
		"- T1 rate limit 90 a minute\n- T2 export as CSV\n- T3 dark theme\n- T4 OCR of receipts\n- T5 backups at 03:40\n- T6 tag v0.2.0",
		"one\ntwo\nthree\nfour\nfive\nsix",
		"02:01:17 spoke[311]: GET /a 200\n02:01:18 spoke[311]: GET /b 200",
	} {
		if got := said(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
