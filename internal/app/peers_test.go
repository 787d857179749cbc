package app

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree"
)

// TestActorPeerSeesItsOwnFolder: with X-OpenViking-Actor-Peer, of the user's peers that one alone is listed, read, searched and removed; the
// user's other things are as they were (spec 2).
func TestActorPeerSeesItsOwnFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const peers = "viking://user/ann/peers"
	w.peerNote("p1", "what kim told about sailing")
	w.peerNote("p2", "what canarypeer told about sailing")
	asP1 := func(r request) *httptest.ResponseRecorder {
		return w.ask(r, "X-API-Key", w.keys["ann"], "X-OpenViking-Actor-Peer", "p1")
	}
	for _, c := range []struct {
		request
		status        int
		has, hasNot   string
		withoutHeader bool // the same has what it must not have, without the header
	}{
		{request{"GET", "/api/v1/fs/ls?simple=true&uri=" + peers, ""}, 200, "peers/p1", "peers/p2", true},
		{request{"GET", "/api/v1/fs/tree?uri=viking://~", ""}, 200, "peers/p1", "p2", true},
		{request{"GET", "/api/v1/fs/ls?uri=viking://~/notes", ""}, 200, canaryAnn, "p2", false},
		{request{"GET", "/api/v1/fs/stat?uri=" + peers + "/p1", ""}, 200, "p1", "", false},
		{request{"GET", "/api/v1/fs/stat?uri=" + peers + "/p2", ""}, 403, "", "canarypeer", false},
		{request{"GET", "/api/v1/content/read?uri=" + peers + "/p2/resources/note.md", ""}, 403, "", "canarypeer", true},
		{request{"POST", "/api/v1/search/find", `{"query":"sailing"}`}, 200, "p1", "canarypeer", true},
		{request{"POST", "/api/v1/search/grep", `{"uri":"viking://~","pattern":"sailing"}`}, 200, "", "canarypeer", false},
		{request{"POST", "/api/v1/search/glob", `{"uri":"viking://~","pattern":"**"}`}, 200, "", "peers/p2", false},
		{request{"DELETE", "/api/v1/fs?recursive=true&uri=" + peers + "/p2", ""}, 403, "", "", false},
		{request{"DELETE", "/api/v1/fs?recursive=true&uri=" + peers, ""}, 403, "", "", false},
		{request{"DELETE", "/api/v1/fs?recursive=true&uri=viking://~", ""}, 403, "", "", false},
		{request{"POST", "/api/v1/fs/mv", `{"from_uri":"` + peers + `","to_uri":"viking://~/elsewhere"}`}, 403, "", "", false},
		{request{"POST", "/api/v1/pack/export", `{"uri":"` + peers + `"}`}, 0, "", "p2", false},
		{request{"GET", "/engine/v1/ls?depth=6&uri=" + peers, ""}, 200, "p1", "p2", true},
		{request{"GET", "/engine/v1/find?query=sailing", ""}, 200, "", "canarypeer", false},
		{request{"DELETE", "/api/v1/fs?recursive=true&uri=" + peers + "/p1", ""}, 200, "", "", false},
	} {
		got := asP1(c.request)
		body := got.Body.String()
		if c.status != 0 && got.Code != c.status || !strings.Contains(body, c.has) || c.hasNot != "" && strings.Contains(body, c.hasNot) {
			t.Errorf("%s %s %s: %d %.400s", c.method, c.path, c.body, got.Code, body)
		}
		if c.withoutHeader {
			if all := w.as("ann", c.request).Body.String(); !strings.Contains(all, c.hasNot) {
				t.Errorf("without the header %s %s does not show %s: %.300s", c.method, c.path, c.hasNot, all)
			}
		}
	}
	if got := w.as("ann", request{"GET", "/api/v1/fs/stat?uri=" + peers + "/p2", ""}); got.Code != 200 {
		t.Errorf("p2's folder is gone: %d %s", got.Code, got.Body)
	}
}

// peerNote stores a file of a peer of ann's.
func (w *world) peerNote(peer, text string) {
	w.t.Helper()
	scope := skald.Scope{Account: "acme", Kind: skald.ScopeUser, User: "ann"}
	f := skald.File{Scope: scope, URI: scope.RootURI().Join("peers", peer, "resources", "note.md"), Body: []byte(text), Modified: time.Unix(1_700_000_000, 0)}
	if err := w.app.store.Update(w.t.Context(), func(tx skald.Tx) error { return tree.Put(tx, f) }); err != nil {
		w.t.Fatal(err)
	}
}
