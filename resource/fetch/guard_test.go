package fetch_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/fetch"
)

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for _, a := range []string{
		"127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
		"100.100.100.200", "0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.0.0.8", "192.0.2.1",
		"198.18.0.1", "198.51.100.1", "203.0.113.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::",
		"2002:a00:1::1", "2001::1", "2001:db8::1", "100::1", "::127.0.0.1", "3fff::1",
	} {
		if fetch.Public(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as public", a)
		}
	}
	for _, a := range []string{"1.1.1.1", "8.8.8.8", "140.82.121.4", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::1", "64:ff9b::808:808", "::ffff:8.8.8.8"} {
		if !fetch.Public(netip.MustParseAddr(a)) {
			t.Errorf("%s does not count as public", a)
		}
	}
}

// web fetches an address into a throw-away folder.
func web(t *testing.T, g fetch.Guard, raw string) (*fetch.Source, error) {
	t.Helper()
	a, err := fetch.Parse(raw, "")
	if err != nil {
		return nil, err
	}
	limits := fetch.DefaultLimits
	limits.Download = 1 << 20
	s, err := fetch.Fetcher{Guard: g, Limits: limits, Temp: t.TempDir(), Agent: "test"}.FromWeb(t.Context(), a, fetch.Filter{})
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

func wantKind(t *testing.T, what string, err error, want skald.Kind) {
	t.Helper()
	if skald.KindOf(err) != want {
		t.Errorf("%s: %v (kind %q), wanted %q", what, err, skald.KindOf(err), want)
	}
}

// counted is a server on loopback that nobody may reach.
func counted(t *testing.T) (address string, calls *atomic.Int32) {
	t.Helper()
	calls = new(atomic.Int32)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = w.Write([]byte("secret"))
	}))
	t.Cleanup(srv.Close)
	return srv.URL, calls
}

// SEC-07 and the guard: no form of an inner address is called.
func TestGuardRefuses(t *testing.T) {
	t.Parallel()
	inner, calls := counted(t)
	port := inner[strings.LastIndexByte(inner, ':')+1:]
	for _, raw := range []string{
		inner, "http://localhost:" + port, "http://[::1]:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://127.1:" + port + "/x",
		"http://2130706433:" + port, "http://0x7f000001:" + port, "http://0:" + port, "http://169.254.169.254/latest/meta-data", "http://[fd00:ec2::254]/",
		inner + "/a/b.git", "git+" + inner + "/r", "git@localhost:o/r.git", "ssh://git@127.0.0.1:" + port + "/o/r.git", "git://127.0.0.1:" + port + "/o/r",
	} {
		_, err := web(t, fetch.Guard{}, raw)
		if kind := skald.KindOf(err); kind != skald.KindPermission && kind != skald.KindUnavailable { // a form that no resolver knows cannot be fetched
			t.Errorf("%s: %v", raw, err)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("the inner server was called %d times", n)
	}
}

func TestLocalPathsAreRefused(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"/etc/passwd", "file:///etc/passwd", "~/.ssh/id_rsa", "./x", "../x", `C:\x`, `\\host\share`, "C:/x", "hello", "ftp://x/y", "tos://b/k"} {
		_, err := fetch.Parse(raw, "")
		wantKind(t, raw, err, skald.KindPermission)
	}
}

func TestRedirectToAnInnerAddress(t *testing.T) {
	t.Parallel()
	inner, calls := counted(t)
	// The first server is on loopback as well: a resolver that calls it public, and a guard that looks at what is dialled, cannot both be had in
	// a test. So the redirect is followed by the guard's client from a transport that plays the public server.
	client := fetch.Guard{}.Client()
	client.Transport = first{to: inner, then: client.Transport}
	r, err := client.Get("http://public.example/")
	if err == nil {
		_ = r.Body.Close()
		t.Fatal("the redirect was followed")
	}
	if calls.Load() != 0 || !strings.Contains(err.Error(), "not a public address") {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
	for _, to := range []string{"http://169.254.169.254/", "file:///etc/passwd", "gopher://x/"} {
		client.Transport = first{to: to, then: client.Transport}
		if r, err := client.Get("http://public.example/"); err == nil {
			_ = r.Body.Close()
			t.Errorf("the redirect to %s was followed", to)
		}
	}
}

// first answers for one host with a redirect, and hands everything else on.
type first struct {
	to   string
	then http.RoundTripper
}

func (f first) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "public.example" {
		return f.then.RoundTrip(r)
	}
	return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {f.to}}, Body: http.NoBody, Request: r}, nil
}

func TestRedirectsAreBounded(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x"+r.URL.Path, http.StatusFound) }))
	defer srv.Close()
	_, err := web(t, fetch.Guard{AllowPrivate: true}, srv.URL+"/a")
	wantKind(t, "endless redirects", err, skald.KindInvalid)
}

// A name whose address changes between two look-ups is judged by the address that is dialled.
func TestRebinding(t *testing.T) {
	t.Parallel()
	inner, calls := counted(t)
	port := inner[strings.LastIndexByte(inner, ':')+1:]
	names := &dns{answers: []netip.Addr{netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("127.0.0.1")}}
	g := fetch.Guard{Resolver: names.start(t)}
	u, _ := url.Parse("http://rebind.example:" + port + "/")
	if err := g.Check(t.Context(), u); err != nil {
		t.Fatalf("the first answer is public: %v", err)
	}
	_, err := web(t, g, u.String())
	wantKind(t, "the second is not", err, skald.KindPermission)
	wantKind(t, "nor is the third", g.Check(t.Context(), u), skald.KindPermission)
	if calls.Load() != 0 {
		t.Error("the inner server was called")
	}
}

// dns is a name server whose answers follow one another; the last one stays.
type dns struct {
	answers []netip.Addr
	asked   atomic.Int32
}

func (d *dns) start(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if answer, err := d.answer(b[:n]); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (d *dns) answer(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		i := min(int(d.asked.Add(1))-1, len(d.answers)-1)
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
			Body:   &dnsmessage.AResource{A: d.answers[i].As4()},
		}}
	}
	return m.Pack()
}
