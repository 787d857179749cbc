package recall

import (
	"strings"

	"github.com/skald-engine/skald"
)

// allowed is the rule of audiences (I9): the owner's direct sessions recall all; a group recalls what was said in it or shared with it;
// anyone else recalls what was said in their own session or to their own audience. Resources and skills belong to the account.
func (r Request) allowed(d skald.Doc) bool {
	if d.Kind == skald.DocResource || d.Kind == skald.DocSkill {
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
