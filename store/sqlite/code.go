package sqlite

import (
	"database/sql/driver"
	"slices"
	"time"

	"github.com/skald-engine/skald"
)

// words are the known values of a column. They are stored as their place in this list (0 and 1 take no space at all in a row),
// so the lists may grow at the end but never change; an unknown value is stored as it is.
type words []string

var (
	roles     = words{string(skald.RoleUser), string(skald.RoleAssistant), string(skald.RoleTool), string(skald.RoleSystem), ""}
	origins   = words{string(skald.OriginOwner), string(skald.OriginAgent), string(skald.OriginTool), string(skald.OriginPerson), string(skald.OriginSystem), ""}
	audiences = words{string(skald.AudienceDirect), "", string(skald.AudienceGroup), string(skald.AudienceCron), string(skald.AudienceSubagent)}
	purposes  = words{string(skald.PurposeTalk), string(skald.PurposeHeartbeat), string(skald.PurposeCron), string(skald.PurposeInternal)}
	sources   = words{string(skald.SourceHost), string(skald.SourceImport), string(skald.SourceView)}
	kinds     = words{string(skald.DocTurn), string(skald.DocMemory), string(skald.DocArchive), string(skald.DocResource), string(skald.DocSkill), ""}
	types     = words{"", string(skald.MemoryProfile), string(skald.MemoryPreference), string(skald.MemoryEntity), string(skald.MemoryEvent),
		string(skald.MemoryCase), string(skald.MemoryPattern)}
)

func (w words) code(s string) any {
	if i := slices.Index(w, s); i >= 0 {
		return i
	}
	return s
}

func (w words) word(v driver.Value) string {
	switch v := v.(type) {
	case int64:
		if v >= 0 && v < int64(len(w)) {
			return w[v]
		}
	case []byte:
		return string(v)
	}
	return ""
}

// optional stores an empty text as NULL, which takes no space and stays out of partial indexes.
func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// orNull keeps nil apart from empty.
func orNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

func fromMillis(v driver.Value) time.Time {
	ms, ok := v.(int64)
	if !ok {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// nanos orders times; the zero time comes first, as it does in Go.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return -1 << 63
	}
	return t.UnixNano()
}
