package recall

import (
	"strings"

	"github.com/skald-engine/skald"
)

// Allowed is the rule of audiences (I9): the owner's direct sessions recall all; a group recalls what was said in it or shared with it;
// anyone else recalls what was said in their own session or to their own audience. Resources and skills of the account are everyone's.
func (r Request) Allowed(d skald.Doc) bool {
	if d.Scope.Kind == skald.ScopeResources || d.Scope.Kind == skald.ScopeSkills {
		return true
	}
	group := strings.HasPrefix(string(r.Audience), string(skald.AudienceGroup))
	if r.Owner && !group {
		return true
	}
	if d.Audience == r.Audience && r.Audience != skald.AudienceDirect {
		return true
	}
	return !group && d.Session == r.Session.ID && d.Scope == r.Session.Scope && d.Kind != skald.DocMemory
}
