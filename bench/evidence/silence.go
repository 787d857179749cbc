package evidence

import (
	"context"
	"fmt"
)

// pleasantries ask for nothing that was said before: whatever is recalled beside them is noise.
var pleasantries = []string{
	"Hi!", "Hello there", "Good morning! How are you today?", "Thanks!", "Thank you so much, that helps a lot", "ok", "Okay, sounds good to me",
	"Great, will do.", "haha nice one", "Got it, thanks", "Perfect, let's leave it at that for today", "Have a nice weekend!", "See you tomorrow", "👍",
	"你好", "早上好！", "谢谢", "好的，谢谢你", "嗯嗯，知道了", "太好了，辛苦你了", "晚安，明天见", "哈哈哈", "收到", "今天就先这样吧",
}

// smallTalk puts the pleasantries, each as the first prompt of a new session.
func (t *tally) smallTalk(ctx context.Context, p *player) error {
	now := p.asking()
	base, err := p.put(ctx, prompt{key: "agent:main:small-talk", now: now, limit: t.Budget, dry: true})
	if err != nil {
		return err
	}
	for i, text := range pleasantries {
		a, err := p.put(ctx, prompt{text: text, key: fmt.Sprintf("agent:main:small-talk-%d", i), now: now, limit: firstLimit(base, text, t.Budget), dry: true})
		if err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
		t.SmallTalk.add(a, t.Budget)
	}
	return nil
}
