package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/skald-engine/skald"
)

// Guard keeps fetches away from the networks behind the daemon. It looks at the address that is dialled, after names were resolved, for every
// connection: a name that changes its address between two look-ups (rebinding) and a redirect are caught alike.
type Guard struct {
	AllowPrivate bool          // for tests and intranets
	Resolver     *net.Resolver // nil: the system's
}

const maxRedirects = 5

// forbidden are networks that are not the public internet, beside what netip knows.
var forbidden = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"240.0.0.0/4", // with broadcast
	"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "fec0::/10", "5f00::/16", "3fff::/20",
)

var (
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
	sixToFo = netip.MustParsePrefix("2002::/16")
)

func prefixes(list ...string) (out []netip.Prefix) {
	for _, p := range list {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// Public reports whether an address belongs to the public internet. IPv4 inside IPv6 (mapped, NAT64, 6to4) is looked through.
func Public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	b := a.As16()
	switch {
	case nat64.Contains(a):
		return Public(netip.AddrFrom4([4]byte(b[12:16])))
	case sixToFo.Contains(a):
		return Public(netip.AddrFrom4([4]byte(b[2:6])))
	case !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast():
		return false
	}
	for _, p := range forbidden {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

func refused(host, address string) error {
	if host != address {
		host += " (" + address + ")"
	}
	return &skald.Error{Op: "fetch.guard", Field: "path", Kind: skald.KindPermission,
		Err: fmt.Errorf("%s is not a public address: an import fetches from the public internet only (import.allow_private in the configuration allows more)", host)}
}

// control is called with the resolved address, before the connection is made.
func (g Guard) control(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return refused(address, address)
	}
	if !g.AllowPrivate && !Public(ap.Addr()) {
		return refused(ap.Addr().String(), ap.Addr().String())
	}
	return nil
}

// Client is an HTTP client behind the guard. It uses no proxy: the proxy would do the dialling.
func (g Guard) Client() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: g.control, Resolver: g.Resolver}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 60 * time.Second,
			MaxResponseHeaderBytes: 1 << 20, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return skald.Invalid("fetch.redirect", "path", "more than %d redirects", maxRedirects)
			}
			return g.checkURL(r.URL)
		},
	}
}

// checkURL refuses schemes that are no web, and addresses that are written out.
func (g Guard) checkURL(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return skald.Invalid("fetch.url", "path", "%s is not an http or https address", u.Redacted())
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !g.AllowPrivate && !Public(a) {
		return refused(u.Hostname(), u.Hostname())
	}
	return nil
}

// Check refuses a URL whose host is known not to be public, so that a caller hears it at once. A name that cannot be resolved passes: the
// fetch itself says what is wrong.
func (g Guard) Check(ctx context.Context, u *url.URL) error {
	if err := g.checkURL(u); err != nil || g.AllowPrivate {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	resolver := g.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	found, err := resolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil
	}
	for _, a := range found {
		if !Public(a) {
			return refused(u.Hostname(), a.Unmap().String())
		}
	}
	return nil
}

// cause takes an error of the guard out of what net/http wraps around it; any other fault of the network may pass.
func cause(what string, err error) error {
	var own *skald.Error
	if errors.As(err, &own) {
		return own
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return skald.E("fetch.get", skald.KindUnavailable, "%s cannot be fetched: %w", what, err)
}
