package fetch

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/skald-engine/skald"
)

// git fetches one commit of a repository, without its history, and lists its files. The transport runs on the guarded client, and is made here
// rather than installed in go-git's table, which is the whole process's.
func (f Fetcher) git(ctx context.Context, s *Source, a Address, filter Filter) error {
	if err := f.Guard.checkURL(a.URL); err != nil {
		return err
	}
	session, err := f.session(a.URL)
	if err != nil {
		return err
	}
	s.close = append(s.close, session)
	adv, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return gitError(a, err)
	}
	want, sub, err := resolve(adv, a)
	if err != nil {
		return err
	}
	storage := filesystem.NewStorage(osfs.New(s.dir), cache.NewObjectLRU(32*cache.MiByte))
	s.close = append(s.close, storage)
	if err := pull(ctx, session, adv, want, storage, f.Limits.Download); err != nil {
		return gitError(a, err)
	}
	s.Revision = want.String()
	return f.checkout(s, storage, want, sub, filter)
}

func (f Fetcher) session(u *url.URL) (transport.UploadPackSession, error) {
	bare := *u
	bare.User = nil
	endpoint, err := transport.NewEndpoint(bare.String())
	if err != nil {
		return nil, skald.Invalid("fetch.git", "path", "%s is not a repository's address", bare.String())
	}
	var auth transport.AuthMethod
	if password, ok := u.User.Password(); ok || u.User.Username() != "" {
		auth = &githttp.BasicAuth{Username: u.User.Username(), Password: password}
	}
	session, err := githttp.NewClientWithOptions(f.Guard.Client(), nil).NewUploadPackSession(endpoint, auth)
	if err != nil {
		return nil, skald.E("fetch.git", skald.KindInvalid, "%w", err)
	}
	return session, nil
}

// resolve finds the commit that an address means, and the path below it.
func resolve(adv *packp.AdvRefs, a Address) (plumbing.Hash, string, error) {
	refs := adv.References
	if a.Ref == "" {
		if adv.Head != nil {
			return *adv.Head, "", nil
		}
		for _, name := range []string{"refs/heads/main", "refs/heads/master"} {
			if h, ok := refs[name]; ok {
				return h, "", nil
			}
		}
		return plumbing.ZeroHash, "", skald.E("fetch.git", skald.KindNotFound, "%s has no commits", a.Shown())
	}
	parts := strings.Split(a.Ref, "/")
	for n := len(parts); n > 0; n-- {
		name, sub := strings.Join(parts[:n], "/"), strings.Join(parts[n:], "/")
		if n < len(parts) && !a.Open {
			break
		}
		for _, full := range []string{"refs/heads/" + name, "refs/tags/" + name} {
			if h, ok := adv.Peeled[full]; ok {
				return h, sub, nil
			}
			if h, ok := refs[full]; ok {
				return h, sub, nil
			}
		}
		if plumbing.IsHash(name) {
			return plumbing.NewHash(name), sub, nil
		}
	}
	return plumbing.ZeroHash, "", skald.E("fetch.git", skald.KindNotFound, "the repository has no branch or tag %q", a.Ref)
}

// pull fetches the objects of one commit.
func pull(ctx context.Context, session transport.UploadPackSession, adv *packp.AdvRefs, want plumbing.Hash, to *filesystem.Storage, most int64) error {
	r := packp.NewUploadPackRequestFromCapabilities(adv.Capabilities)
	r.Wants = []plumbing.Hash{want}
	if adv.Capabilities.Supports(capability.Shallow) {
		r.Depth = packp.DepthCommits(1)
		if err := r.Capabilities.Set(capability.Shallow); err != nil {
			return err
		}
	}
	answer, err := session.UploadPack(ctx, r)
	if err != nil {
		return err
	}
	defer answer.Close()
	var pack io.Reader = answer
	switch {
	case r.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, pack)
	case r.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, pack)
	}
	return packfile.UpdateObjectStorage(to, &bounded{r: pack, left: most})
}

// bounded fails, rather than ends, when more than left bytes come.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, skald.Invalid("fetch.git", "path", "the repository is too large")
	}
	return n, err
}

func (f Fetcher) checkout(s *Source, storage *filesystem.Storage, commit plumbing.Hash, sub string, filter Filter) error {
	c, err := object.GetCommit(storage, commit)
	if err != nil {
		return skald.Invalid("fetch.git", "path", "commit %s cannot be read: %w", commit, err)
	}
	tree, err := c.Tree()
	if err != nil {
		return skald.Invalid("fetch.git", "path", "commit %s cannot be read: %w", commit, err)
	}
	found, prefix := newCollector(s, f.Limits), ""
	if sub != "" {
		entry, err := tree.FindEntry(sub)
		switch {
		case err != nil:
			return skald.E("fetch.git", skald.KindNotFound, "the repository has no %q", sub)
		case entry.Mode == filemode.Dir:
			prefix = sub + "/"
		default:
			file, err := tree.File(sub)
			if err != nil {
				return skald.E("fetch.git", skald.KindNotFound, "the repository's %q is not a file: %w", sub, err)
			}
			s.Single = true
			return found.add(file.Name[strings.LastIndexByte(file.Name, '/')+1:], file.Size, file.Reader)
		}
	}
	links := 0
	err = tree.Files().ForEach(func(file *object.File) error {
		name, ok := strings.CutPrefix(file.Name, prefix)
		switch {
		case !ok || !filter.Wants(name):
			return nil
		case file.Mode != filemode.Regular && file.Mode != filemode.Executable && file.Mode != filemode.Deprecated:
			links++
			return nil
		}
		return found.add(name, file.Size, file.Reader)
	})
	if links > 0 {
		s.warn("%d symbolic links and sub-modules are left out", links)
	}
	found.sort()
	return keepKind(err)
}

func keepKind(err error) error {
	var own *skald.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	return skald.Invalid("fetch.git", "path", "the repository cannot be read: %w", err)
}

func gitError(a Address, err error) error {
	switch {
	case errors.Is(err, transport.ErrRepositoryNotFound), errors.Is(err, transport.ErrEmptyRemoteRepository):
		return &skald.Error{Op: "fetch.git", Field: "path", Kind: skald.KindNotFound, Err: errText(a.Shown() + ": no such repository, or an empty one")}
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return &skald.Error{Op: "fetch.git", Field: "path", Kind: skald.KindPermission, Err: errText(a.Shown() + " asks for a key")}
	}
	return cause(a.Shown(), err)
}
