package trial

import (
	"slices"
	"testing"

	"github.com/skald-engine/skald/message"
)

func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Our database listens on port 5433.":                       {"5433"},
		"port **5433**, host moss, 192.168.31.42":                  {"5433", "192.168.31.42"},
		"Set `TIDEPOOL_SETTLE_V2` in src/app/settings.py":          {"tidepool_settle_v2", "src/app/settings.py"},
		"/volume2/tidepool and ~/code are the places":              {"volume2/tidepool", "code"},
		"mail me at ada@example.org, or see https://example.org/x": {"ada@example.org", "https://example.org/x"},
		"航班 MU5137 周六 09:20 起飞":                                    {"mu5137", "09:20"},
		"1,250 users on v7.0":                                      {"1250", "v7.0"},
		"the colour-blind friend and/or the cat":                   nil,
		"in 2024 we had 12 of 30min, the 2nd time":                 nil,
		"e.g. this, i.e. that... and so on":                        nil,
		"/compact is a command":                                    nil,
	} {
		if got := values(text); !slices.Equal(got, want) {
			t.Errorf("values(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestValuesMeet: one thing spelled in several ways is one value.
func TestValuesMeet(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"port 5433", "(5433)"}, {"MU5137", "航班mu5137号"}, {"`README.md`", "README.md."}, {"1,250", "1250"}} {
		a, b := values(pair[0]), values(pair[1])
		if len(a) != 1 || !slices.Equal(a, b) {
			t.Errorf("%q gives %q, %q gives %q", pair[0], a, pair[1], b)
		}
	}
}

// TestRepeated holds pairs of sentences that a person would call the same fact said twice, and pairs that only look like it.
func TestRepeated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, earlier, between, now string
		want                        bool
	}{
		{"same fact", "Our database listens on port 5433.", "", "The database listens on port 5433.", true},
		{"part of it", "We use Flask 2.3.1, Python 3.11 and SQLite 3.39 for the shop.", "", "We use Flask 2.3.1 and Python 3.11 for the shop.", true},
		{"his words", "I am allergic to peanuts and celery.", "", "As I said, I am allergic to peanuts.", true},
		{"his question", "The deploy key is in vault/prod/deploy-7.", "", "Didn't I tell you the deploy key is in vault/prod/deploy-7?", true},
		{"his order", "Always run the linter with the race flag -x77.", "", "I told you already: run the linter with the race flag -x77.", true},
		{"Chinese", "数据库的端口是 5433,在 NAS 上。", "", "我说过,数据库的端口是 5433。", true},
		{"Chinese, plain", "数据库的端口是 5433,在 NAS 上。", "", "数据库的端口是 5433。", true},

		{"question", "Our database listens on port 5433.", "", "Does the database listen on port 5433?", false},
		{"another value", "Our database listens on port 5433.", "", "The database listens on port 5544.", false},
		{"a value more", "Our database listens on port 5433.", "", "The database listens on port 5433 of moss-12.", false},
		{"a change", "Our database listens on port 5433.", "", "The database is back to port 5433 now.", false},
		{"changed in between", "The database listens on port 5433.", "The database listens on port 5544.", "The database listens on port 5433.", false},
		{"order", "The tests are in internal/auth/auth_test.go, mostly.", "", "Open internal/auth/auth_test.go and fix the tests.", false},
		{"order again", "Run the tests in internal/auth/auth_test.go.", "", "Run the tests in internal/auth/auth_test.go again.", false},
		{"another subject", "The invoice has number 84231.", "", "My train is number 84231 to Lyon.", false},
		{"a year", "The lease is from 2024 for the flat.", "", "The lease is from 2024 for the flat.", false},
		{"done", "I want to add an index on users_email to speed up the login.", "", "I have added an index on users_email to speed up the login.", false},
		{"a trouble", "I use the image cuda-117 for the training.", "", "I use the image cuda-117 for the training but it fails with an error.", false},
		{"no value, no word of his", "I am allergic to peanuts.", "", "I am allergic to peanuts.", false},
		{"his word, another thing", "I am allergic to peanuts.", "", "As I said, the meeting is in Lyon.", false},
		{"or", "接口用 5433 端口比较好。", "", "用 5433 端口还是 5544 端口?", false},
	} {
		b := newBook()
		s := &session{number: 1}
		for i, text := range []string{c.earlier, c.between} {
			for _, st := range of(t, text, place{session: s, index: i}) {
				b.add(st)
			}
		}
		got := false
		for _, st := range of(t, c.now, place{session: s, index: 9}) {
			_, ok := b.repeated(st)
			got = got || ok
		}
		if got != c.want {
			t.Errorf("%s: %q after %q: repeated = %v, want %v", c.name, c.now, c.earlier, got, c.want)
		}
	}
}

func of(t *testing.T, text string, at place) []statement {
	t.Helper()
	m, err := message.Parse(message.User(text, 1))
	if err != nil {
		t.Fatal(err)
	}
	return statements(m, at)
}

// TestSaid: what is pasted, quoted or the host's own is not what the user says.
func TestSaid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[Mon 2026-11-30 12:03 UTC] The port is 5433.":          "The port is 5433.",
		"See:\n```\nport = 5433\n```\nok":                       "See:\n \nok",
		"> The port is 5433.\nYes":                              "\nYes",
		"/status now":                                           "",
		"[heartbeat] Read HEARTBEAT.md if it exists.":           "",
		"<skald-context>port 5433</skald-context>\nWhich port?": "Which port?",
	} {
		m, err := message.Parse(message.User(text, 1))
		if err != nil {
			t.Fatal(err)
		}
		if got := said(m); got != want {
			t.Errorf("said(%q) = %q, want %q", text, got, want)
		}
	}
}
