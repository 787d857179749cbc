// Package scripted serves scripted model endpoints on loopback, for the
// end-to-end tests with the real OpenClaw gateway and for the demo. The
// endpoints are as strict as the real providers: a request that one of them
// would refuse is refused here too, in its error format, and is recorded.
//
// # Profiles
//
// One server serves several profiles (see [Profiles]) by path:
// /<profile>/v1/chat/completions for openai-completions and
// /<profile>/v1/messages for anthropic-messages, streaming or not, and
// /<profile>/v1/models.
//
// Every profile refuses: an unreadable body or unknown fields; a conversation
// that does not begin with a user message or ends with an assistant message;
// a tool result that does not follow the message with its call, an unknown or
// an unanswered call (Anthropic: all results in the next user message, before
// anything else); double ids; empty content; unknown roles and blocks; more
// tokens than the window. [Rules] adds what single providers demand.
//
// The user message with OpenClaw's internal context counts as part of the
// prompt wherever it stands: no rule on the order of messages sees it.
//
// # Script
//
// Without a queued [Reply] and without a [Handler] the user's prompt decides:
//
//	CALL <tool> <json>           one tool call, then text
//	CALLS n <tool> <json>        n calls, one per model request
//	PARALLEL n <tool> <json>     n calls in one message
//	LONG n                       n words
//	THINK                        a thinking block or reasoning_content first
//	SLOW ms                      wait before the first byte
//	FAIL status message          an error
//	HANG                         no answer until the client leaves
//	ANSWER-FROM-CONTEXT regexp   first match in what stands before the prompt
//	                             (and in the results of this turn's calls),
//	                             else NOT FOUND; the expression ends with the
//	                             line and may stand between slashes
//
// Commands can be combined; several calls run in their order. Any other
// prompt is echoed as "ok: …", after calls with the last result.
package scripted

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// TB is the part of testing.TB that the server uses.
type TB interface {
	Cleanup(func())
	Logf(format string, args ...any)
}

// Handler answers a request that passed the checks, or declines with false. The
// request has no id, status and usage yet. Handlers may run concurrently.
type Handler func(Request) (Reply, bool)

// Options configures a server. The zero value is useful.
type Options struct {
	TB       TB        // closes the server with the test and logs refusals; may be nil
	Addr     string    // "127.0.0.1:0" by default
	Profiles []Profile // added to the built-in ones, or replacing one by its name
	Handler  Handler
	Log      io.Writer // one line per request; may be nil
}

// Server is a running set of scripted endpoints.
type Server struct {
	opts     Options
	profiles map[string]*Profile
	http     *http.Server
	url      string

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when requests changes
	requests []Request
	misses   []string
	queue    map[string][]Reply
	handler  Handler
	caches   map[string]*promptCache
	calls    int // tool calls made, for their ids
}

// New starts a server on loopback. It panics when it cannot listen.
func New(opts Options) *Server {
	s := &Server{
		opts: opts, profiles: map[string]*Profile{}, changed: make(chan struct{}),
		queue: map[string][]Reply{}, handler: opts.Handler, caches: map[string]*promptCache{},
	}
	for _, p := range append(Profiles(), opts.Profiles...) {
		p.complete()
		s.profiles[p.Name] = &p
		s.caches[p.Name] = &promptCache{seen: map[[32]byte]bool{}}
	}
	addr := opts.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		panic("scripted: " + err.Error())
	}
	s.url = "http://" + l.Addr().String()
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	if opts.TB != nil {
		opts.TB.Cleanup(s.Close)
	}
	return s
}

// URL is the server's root, without a slash at the end.
func (s *Server) URL() string { return s.url }

// Close stops the server and ends every open answer.
func (s *Server) Close() { _ = s.http.Close() }

// BaseURL is the baseUrl of a profile for OpenClaw's configuration. It ends
// with /v1 for both APIs: for anthropic-messages OpenClaw appends /messages to
// a base that ends with /v1, and /v1/messages to any other.
func (s *Server) BaseURL(profile string) string { return s.url + "/" + profile + "/v1" }

// Provider is a profile's entry under models.providers in openclaw.json.
func (s *Server) Provider(profile string) map[string]any {
	p := s.profiles[profile]
	if p == nil {
		return nil
	}
	var models []any
	for _, m := range p.Models {
		models = append(models, map[string]any{
			"id": m.ID, "name": m.ID, "reasoning": p.Reasoning, "input": []string{"text"},
			"cost":          map[string]int{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			"contextWindow": m.Window, "maxTokens": 2048,
		})
	}
	return map[string]any{"baseUrl": s.BaseURL(profile), "apiKey": "scripted-key", "api": string(p.API), "models": models}
}

// Push queues replies for a profile. Each request that passes the checks takes
// one, before the handler and the script are asked.
func (s *Server) Push(profile string, replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue[profile] = append(s.queue[profile], replies...)
}

// Overflow is the error with which a profile's provider refuses a prompt of so
// many tokens, to be queued.
func (s *Server) Overflow(profile string, tokens int) Reply {
	p := s.profiles[profile]
	if p == nil {
		return Reply{}
	}
	r := tooLong(p, tokens, p.Window)
	return Reply{Status: r.status, Code: r.code, Error: r.message}
}

// Queued is the number of replies that no request took yet.
func (s *Server) Queued(profile string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue[profile])
}

// SetHandler replaces the handler; nil removes it.
func (s *Server) SetHandler(h Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = h
}

// Requests returns all recorded requests in order.
func (s *Server) Requests() []Request { return s.Since(0) }

// Since returns the requests recorded after the one with the id.
func (s *Server) Since(id int) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests[min(max(id, 0), len(s.requests)):])
}

// Refusals returns the recorded requests that were refused.
func (s *Server) Refusals() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Refusal == "" })
}

// Misses lists requests for paths that the server does not have, such as those
// of a wrong base URL.
func (s *Server) Misses() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.misses)
}

// WaitRequests waits until at least n requests are recorded and returns all.
func (s *Server) WaitRequests(ctx context.Context, n int) ([]Request, error) {
	for {
		s.mu.Lock()
		changed := s.changed
		have := len(s.requests)
		s.mu.Unlock()
		if have >= n {
			return s.Requests(), nil
		}
		select {
		case <-ctx.Done():
			return s.Requests(), fmt.Errorf("scripted: %d of %d requests: %w", have, n, ctx.Err())
		case <-changed:
		}
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	p := s.profiles[name]
	want := "v1/chat/completions"
	if p != nil && p.API == Anthropic {
		want = "v1/messages"
	}
	switch {
	case p != nil && r.Method == http.MethodPost && path == want:
		s.complete(w, r, p)
	case p != nil && r.Method == http.MethodGet && path == "v1/models":
		writeJSON(w, 200, modelList(p))
	default:
		s.mu.Lock()
		s.misses = append(s.misses, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		if p == nil {
			p = &Profile{Dialect: DialectOpenAI}
		}
		writeError(w, p, 404, "", "not_found", "Invalid URL ("+r.Method+" "+r.URL.Path+")")
	}
}

func modelList(p *Profile) any {
	var data []any
	for _, m := range p.Models {
		if p.API == Anthropic {
			data = append(data, map[string]any{"type": "model", "id": m.ID, "display_name": m.ID, "created_at": "2026-01-01T00:00:00Z"})
		} else {
			data = append(data, map[string]any{"object": "model", "id": m.ID, "created": 1767225600, "owned_by": "scripted"})
		}
	}
	if p.API == Anthropic {
		return map[string]any{"data": data, "has_more": false, "first_id": p.Models[0].ID, "last_id": p.Models[len(p.Models)-1].ID}
	}
	return map[string]any{"object": "list", "data": data}
}

// complete answers one model request.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, p *Profile) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	c := &call{profile: p, req: Request{Profile: p.Name, Time: time.Now(), Path: r.URL.Path}}
	bad := c.parse(body)
	if p.API == Anthropic && r.Header.Get("anthropic-version") == "" {
		bad = first(bad, refuse("anthropic-version: header is required"))
	}
	if len(c.req.Messages) > 0 {
		bad = first(bad, c.check())
	}
	if bad != nil {
		c.req.Status, c.req.Refusal = bad.status, bad.message
		s.record(c)
		if s.opts.TB != nil {
			s.opts.TB.Logf("scripted: %s refused request %d: %s", p.Name, c.req.ID, bad.message)
		}
		writeError(w, p, bad.status, bad.kind, bad.code, bad.message)
		return
	}
	reply := s.choose(c)
	c.req.Reply = reply
	c.req.Status = 200
	switch {
	case reply.Hang:
		c.req.Status = 0
	case reply.Status != 0:
		c.req.Status = reply.Status
	default:
		s.account(c, reply)
	}
	s.record(c)
	if reply.Delay > 0 {
		select {
		case <-r.Context().Done():
			s.left(c.req.ID)
			return
		case <-time.After(reply.Delay):
		}
	}
	switch {
	case reply.Hang:
		<-r.Context().Done()
		s.left(c.req.ID)
	case reply.Status != 0:
		message := reply.Error
		if message == "" {
			message = http.StatusText(reply.Status)
		}
		writeError(w, p, reply.Status, "", reply.Code, message)
	default:
		m := s.build(c, reply)
		if p.API == Anthropic {
			m.writeAnthropic(w)
		} else {
			m.writeOpenAI(w)
		}
	}
}

// choose takes the queued reply, or asks the handler, or the script.
func (s *Server) choose(c *call) Reply {
	s.mu.Lock()
	handler := s.handler
	var reply Reply
	found := false
	if q := s.queue[c.profile.Name]; len(q) > 0 {
		reply, found = q[0], true
		s.queue[c.profile.Name] = q[1:]
	}
	s.mu.Unlock()
	if !found && handler != nil {
		reply, found = handler(c.req)
	}
	if !found {
		reply = scripted(c.req)
	}
	thinks := c.profile.Reasoning && (c.profile.API == OpenAI || c.req.ThinkingEnabled)
	if thinks && reply.Thinking == "" {
		reply.Thinking = fmt.Sprintf("Considering the request of %d messages.", len(c.req.Messages))
	}
	return reply
}

// account fills in the usage that will be reported.
func (s *Server) account(c *call, reply Reply) {
	s.mu.Lock()
	read, written := s.caches[c.profile.Name].use(c.profile.API, c.req.Model, c.units)
	s.mu.Unlock()
	total := c.req.EstimatedTokens
	if reply.PromptTokens > 0 {
		total = reply.PromptTokens
	}
	if reply.CachedTokens != nil {
		read = *reply.CachedTokens
	}
	read = min(read, total)
	c.req.PromptTokens, c.req.CachedTokens, c.req.CacheWriteTokens = total, read, min(written, total-read)
}

func (s *Server) record(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.req.ID = len(s.requests) + 1
	s.requests = append(s.requests, c.req)
	close(s.changed)
	s.changed = make(chan struct{})
	if s.opts.Log != nil {
		what := c.req.Refusal
		if what == "" {
			what = truncate(strings.ReplaceAll(c.req.PromptText(), "\n", " "), 80)
		}
		fmt.Fprintf(s.opts.Log, "%s #%d %s %d: %d messages, ~%d tokens, %d cached: %s\n", c.req.Time.Format("15:04:05"),
			c.req.ID, c.req.Profile, c.req.Status, len(c.req.Messages), c.req.EstimatedTokens, c.req.CachedTokens, what)
	}
}

// left marks a request whose client did not wait for the answer.
func (s *Server) left(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[id-1].Status = 499
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v))
}

// writeError answers with an error in the provider's shape.
func writeError(w http.ResponseWriter, p *Profile, status int, kind, code, message string) {
	var body any
	var null any
	switch p.Dialect {
	case DialectAnthropic:
		if code == "" || code == "not_found" {
			code = anthropicErrorType(status)
		}
		body = map[string]any{"type": "error", "error": map[string]any{"type": code, "message": message}, "request_id": "req_scripted"}
	case DialectGemini:
		name := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
			429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[status]
		if name == "" {
			name = "INTERNAL"
		}
		body = []any{map[string]any{"error": map[string]any{"code": status, "message": message, "status": name}}}
	case DialectMistral:
		if kind == "" {
			kind = "invalid_request_error"
		}
		e := map[string]any{"object": "error", "message": message, "type": kind, "param": null, "code": null, "raw_status_code": status}
		if code != "" {
			e["code"] = code
		}
		body = e
	default:
		if kind == "" {
			kind = map[bool]string{true: "server_error", false: "invalid_request_error"}[status >= 500]
		}
		if status == 429 {
			kind = "rate_limit_error"
		}
		e := map[string]any{"message": message, "type": kind, "param": null, "code": null}
		if code != "" {
			e["code"] = code
		}
		if code == "context_length_exceeded" {
			e["param"] = "messages"
		}
		body = map[string]any{"error": e}
	}
	writeJSON(w, status, body)
}

func anthropicErrorType(status int) string {
	if t, ok := map[int]string{401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}[status]; ok {
		return t
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

// ProfileNames lists the profiles that the server serves.
func (s *Server) ProfileNames() []string { return slices.Sorted(maps.Keys(s.profiles)) }
