package analyze

import "strings"

// stop are English words that tell nothing about what is asked, as they are after stemming.
var stop = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an the of to in on at for and or nor but is are was were be been being am do did does doing done
		what when where who whom whose which how why i me my mine myself you your yours yourself he him his himself she her hers herself
		it its itself they them their theirs themselves we us our ours ourselves this that these those with from as by about into onto
		over under again further then than there here so too very just only also not no if because while until during before after
		above below between through out off up down all any both each few more most other some such own same can could will would
		shall should may might must have has had having let please s t
		can't don't doesn't didn't isn't aren't wasn't weren't won't wouldn't couldn't shouldn't haven't hasn't hadn't i'm i've i'd i'll
		you're you've you'd you'll we're we've we'd we'll they're they've they'd they'll he'd he'll she'd she'll it'd it'll that'd that'll
		there'd let's who'd who'll what'd what're`) {
		m[w] = true
		m[stem(w)] = true
	}
	return m
}()

// stopChar are Chinese and Japanese characters that do the same work.
var stopChar = func() map[rune]bool {
	m := map[rune]bool{}
	for _, r := range "的了是在我你您他她它们这那有和与也就都不吗呢吧啊么什哪谁怎为被把给从到对个之其及或着过要会能可以很还再又没请" +
		"のはがをにでともへやかなねよたてしだすまいれ" {
		m[r] = true
	}
	return m
}()
