package fetch

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/skald-engine/skald"
)

// Address is a source's address, understood.
type Address struct {
	URL    *url.URL // https or http, with credentials
	Git    bool     // a repository, else one file or page
	Ref    string   // branch, tag or commit; "" the default branch
	Open   bool     // Ref is followed by a path in the repository; where it ends, the branches that are there tell
	Name   string   // what to call the resource
	Notice string   // what was understood in another way than it was written
}

// hosts whose plain owner/name pages are repositories.
var gitHosts = map[string]bool{
	"github.com": true, "www.github.com": true, "gitlab.com": true, "gitee.com": true, "bitbucket.org": true, "codeberg.org": true,
}

var (
	scpForm   = regexp.MustCompile(`^[A-Za-z0-9._-]+@([A-Za-z0-9.-]+):([^/].*)$`)
	localPath = regexp.MustCompile(`^(/|~|\.|[A-Za-z]:[\\/]|\\|file:)`)
)

// errLocal is OpenViking's answer to a path of the server's own disk (SEC-07).
func errLocal() error {
	return &skald.Error{Op: "fetch.address", Field: "path", Kind: skald.KindPermission,
		Err: errText("only addresses of the web and uploaded files are imported, not paths of the server: upload the file first (temp_upload)")}
}

type errText string

func (e errText) Error() string { return string(e) }

// Parse reads what a caller gives as a source: an http(s) address of a page, file or repository, git@host:owner/name, ssh://…, git+https://….
// KindPermission for a local path, KindInvalid for what is no address. kind "git" says that it is a repository whatever it looks like.
func Parse(raw, kind string) (Address, error) {
	s := strings.TrimSpace(raw)
	if localPath.MatchString(s) {
		return Address{}, errLocal()
	}
	var a Address
	if m := scpForm.FindStringSubmatch(s); m != nil {
		s, a.Git = "ssh://"+m[1]+"/"+m[2], true
	}
	if rest, ok := strings.CutPrefix(s, "git+"); ok {
		s, a.Git = rest, true
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return a, errLocal()
	}
	switch u.Scheme {
	case "http", "https":
	case "ssh", "git":
		// Neither can be kept inside the guard; public repositories are all served over https.
		a.Notice, a.Git = "the repository is fetched over https, without a key", true
		u = &url.URL{Scheme: "https", Host: u.Hostname(), Path: u.Path}
	default:
		return a, errLocal()
	}
	u.Fragment = ""
	a.URL = u
	a.Git = a.Git || kind == "git"
	a.understand()
	return a, nil
}

// understand finds repositories, and files and folders in them, among the addresses of the known hosts.
func (a *Address) understand() {
	host, parts := strings.ToLower(a.URL.Hostname()), segments(a.URL.Path)
	known := gitHosts[host] || strings.HasPrefix(host, "gitlab.")
	at := -1
	for i, p := range parts {
		if known && i >= 2 && (p == "blob" || p == "tree" || p == "raw" || p == "src") {
			at = i
			break
		}
	}
	switch {
	case at > 0 && at+2 < len(parts) && parts[at] != "tree" && a.raw(host, parts, at):
		a.Name = stem(path.Base(a.URL.Path))
	case at > 0 && at+1 < len(parts):
		repo := parts[:at]
		if repo[len(repo)-1] == "-" {
			repo = repo[:len(repo)-1]
		}
		a.Git, a.Open, a.Ref = true, true, strings.Join(parts[at+1:], "/")
		a.URL = &url.URL{Scheme: a.URL.Scheme, User: a.URL.User, Host: a.URL.Host, Path: "/" + strings.Join(repo, "/")}
		a.Name = parts[len(parts)-1]
		if at+2 == len(parts) { // the whole tree of a branch
			a.Name = repo[len(repo)-1]
		} else if parts[at] != "tree" {
			a.Name = stem(a.Name)
		}
	case strings.HasSuffix(a.URL.Path, ".git"), known && len(parts) == 2:
		a.Git = true
		a.Name = strings.TrimSuffix(parts[len(parts)-1], ".git")
	case len(parts) > 0:
		a.Name = stem(path.Base(a.URL.Path))
	default:
		a.Name = a.URL.Hostname()
	}
	a.Name = CleanName(strings.TrimSuffix(a.Name, ".git"))
}

// raw turns the page of a file into the file's own address, where the host has one: a repository need not be fetched for one file.
func (a *Address) raw(host string, parts []string, at int) bool {
	u := url.URL{Scheme: a.URL.Scheme, User: a.URL.User, Host: a.URL.Host}
	switch {
	case host == "github.com" || host == "www.github.com":
		u.Host, u.Path = "raw.githubusercontent.com", "/"+strings.Join(append(parts[:at:at], parts[at+1:]...), "/")
	case strings.HasPrefix(host, "gitlab.") || host == "gitee.com":
		parts[at] = "raw"
		u.Path = "/" + strings.Join(parts, "/")
	default:
		return false
	}
	a.URL = &u
	return true
}

func segments(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

// Shown is the address without credentials.
func (a Address) Shown() string {
	u := *a.URL
	u.User = nil
	if a.Ref != "" {
		u.Path += "/tree/" + a.Ref
	}
	return u.String()
}
