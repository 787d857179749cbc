package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Proxy stands between the plugin and the daemon, so that a test can break single calls: refuse them, lose their answers, do
// something in their midst. Everything else passes unchanged, and all of it is recorded.
type Proxy struct {
	Addr   string
	target string

	mu     sync.Mutex
	server *http.Server
	plans  map[plan][]func(*Exchange)
	calls  []*Exchange
}

type plan struct{ session, call string }

// Exchange is one call of the plugin. What is exported is settled when the call is over.
type Exchange struct {
	Call    string // commit_turn, assemble, …
	Session string // the host's session key
	Body    []byte
	Status  int // of what the plugin was answered; 0: the connection was cut
	Answer  []byte
	Stored  bool // the daemon has answered with success, whatever the plugin was told

	proxy   *Proxy
	request *http.Request
}

// Field is a text field of the request's body.
func (x *Exchange) Field(name string) string {
	var body map[string]any
	_ = json.Unmarshal(x.Body, &body)
	s, _ := body[name].(string)
	return s
}

// StartProxy listens on a free port in front of the daemon at target.
func StartProxy(target string) (*Proxy, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	p := &Proxy{Addr: addr, target: target, plans: map[plan][]func(*Exchange){}}
	return p, p.Up()
}

// Up listens again after Down.
func (p *Proxy) Up() error {
	l, err := net.Listen("tcp", p.Addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: p}
	p.mu.Lock()
	p.server = server
	p.mu.Unlock()
	go func() { _ = server.Serve(l) }()
	return nil
}

// Down closes the port: connections are refused, as with no daemon there.
func (p *Proxy) Down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.server.Close()
}

// Next gives the next call of that name in a session to fn, which calls Forward, Reply or neither; without a Reply the answer of
// Forward is passed on, without either the connection is cut.
func (p *Proxy) Next(session, call string, fn func(*Exchange)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := plan{session, call}
	p.plans[at] = append(p.plans[at], fn)
}

// Calls are the finished calls of a session, or of all ("").
func (p *Proxy) Calls(session string, names ...string) (list []Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.calls {
		if session != "" && x.Session != session {
			continue
		}
		for _, name := range names {
			if x.Call == name {
				list = append(list, *x)
			}
		}
	}
	return list
}

// Forward asks the daemon.
func (x *Exchange) Forward() error {
	r, err := http.NewRequestWithContext(x.request.Context(), x.request.Method, "http://"+x.proxy.target+x.request.URL.RequestURI(), bytes.NewReader(x.Body))
	if err != nil {
		return err
	}
	r.Header = x.request.Header.Clone()
	r.Host = x.proxy.target
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if x.Answer, err = io.ReadAll(answer.Body); err != nil {
		return err
	}
	x.Status = answer.StatusCode
	x.Stored = x.Status == http.StatusOK
	return nil
}

// Reply is what the plugin is answered instead.
func (x *Exchange) Reply(status int, body string) { x.Status, x.Answer = status, []byte(body) }

// Cut drops the answer: the plugin's connection breaks.
func (x *Exchange) Cut() { x.Status, x.Answer = 0, nil }

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &Exchange{proxy: p, request: r, Call: strings.TrimPrefix(r.URL.Path, "/engine/v1/")}
	var err error
	if x.Body, err = io.ReadAll(r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	var body struct {
		Session struct {
			Key string `json:"session_key"`
		} `json:"session"`
	}
	_ = json.Unmarshal(x.Body, &body)
	x.Session = body.Session.Key
	if fn := p.take(plan{x.Session, x.Call}); fn != nil {
		fn(x)
	} else if err := x.Forward(); err != nil && !errors.Is(err, r.Context().Err()) {
		x.Cut()
	}
	p.mu.Lock()
	p.calls = append(p.calls, x)
	p.mu.Unlock()
	if x.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(x.Status)
	_, _ = w.Write(x.Answer)
}

func (p *Proxy) take(at plan) func(*Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.plans[at]
	if len(list) == 0 {
		return nil
	}
	p.plans[at] = list[1:]
	return list[0]
}
