package recall

import "sync"

// Memo remembers what was worked out from stored turns, within a bounded size: two generations, of which the older is dropped when the
// younger is full. Its keys are links of the chain over the turns, which stand for the bytes that they were made from: an entry never
// grows stale, and a turn that was purged or forgotten is not asked for.
type Memo[V any] struct {
	mu         sync.Mutex
	young, old map[string]V
	size       int // bytes in young
	limit      int // bytes in both
}

// NewMemo makes a memo of at most limit bytes.
func NewMemo[V any](limit int) *Memo[V] { return &Memo[V]{limit: limit} }

// Get returns what was kept under a key.
func (m *Memo[V]) Get(key string) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.young[key]
	if !ok {
		v, ok = m.old[key]
	}
	return v, ok
}

// Put keeps a value of about so many bytes.
func (m *Memo[V]) Put(key string, v V, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size += bytes + len(key); m.size > m.limit/2 || m.young == nil {
		m.old, m.young, m.size = m.young, map[string]V{}, bytes
	}
	m.young[key] = v
}

// words is a turn's text and tool, parsed out of the host's message.
type words struct{ text, tool string }

var (
	texts = NewMemo[words](16 << 20)
	terms = NewMemo[[]string](16 << 20)
)
