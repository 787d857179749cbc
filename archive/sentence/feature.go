package sentence

import (
	"strings"
	"unicode"
)

// Weights of what a sentence tells. Identifiers weigh most: a name or number that is lost cannot be guessed.
const (
	weightID   = 1.0  // path, version, hash, order number, address
	weightNum  = 0.8  // number, date, amount
	WeightName = 0.6  // proper name
	weightWord = 0.12 // content word
	weightHan  = 0.09 // pair of Han characters
)

// Features lists what a sentence tells: key to weight. Keys are in lower case.
func Features(s string) map[string]float64 {
	f := map[string]float64{}
	first := true
	for word := range words(s) {
		lower := strings.ToLower(word)
		switch {
		case IsHan(word):
			pairs(f, []rune(word))
		case identifier(word):
			f[lower] = weightID
		case hasDigit(word):
			f[lower] = weightNum
		case stop[lower] || len(word) < 3:
		case !first && unicode.IsUpper([]rune(word)[0]):
			f[lower] = max(f[lower], WeightName)
		default:
			f[lower] = max(f[lower], weightWord)
		}
		first = false
	}
	return f
}

// words yields runs of Han characters and runs of other letters, digits and the marks that hold identifiers together.
func words(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start, han := -1, false
		flush := func(end int) bool {
			if start < 0 {
				return true
			}
			w := strings.Trim(s[start:end], ".:,-/+'#@")
			if strings.HasPrefix(s[start:end], "#") && len(w) == 6 {
				w = "#" + w
			}
			start = -1
			return w == "" || yield(w)
		}
		for i, r := range s {
			isH := unicode.Is(unicode.Han, r)
			in := isH || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || strings.ContainsRune("_./:@#%¥$€+-", r)
			if start >= 0 && (!in || isH != han) && !flush(i) {
				return
			}
			if in && start < 0 {
				start, han = i, isH
			}
		}
		flush(len(s))
	}
}

// IsHan reports whether a word begins with a Han character.
func IsHan(w string) bool { return unicode.Is(unicode.Han, []rune(w)[0]) }

func hasDigit(w string) bool { return strings.IndexFunc(w, unicode.IsDigit) >= 0 }

// identifier reports whether a word is a path, version, hash, dotted or underscored name, or mixes letters and digits.
func identifier(w string) bool {
	letters, digits, marks, upper := 0, 0, 0, 0
	for i, r := range w {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) && i > 0 {
				upper++
			}
		case r != '-':
			marks++
		}
	}
	switch {
	case letters > 0 && digits > 0 && letters+digits >= 4:
		return true
	case marks > 0 && letters+digits >= 4 && letters > 0:
		return true
	case digits > 3 && marks > 0:
		return true
	}
	return upper > 0 && letters > upper && letters >= 5 || digits >= 5
}

func pairs(f map[string]float64, r []rune) {
	for i := 0; i+1 < len(r); i++ {
		if !hanStop[r[i]] && !hanStop[r[i+1]] {
			f[string(r[i:i+2])] = weightHan
		}
	}
}

// Overlap is the weight that two feature sets share, as a share of the smaller one.
func Overlap(a, b map[string]float64) float64 {
	var shared, wa, wb float64
	for k, w := range a {
		wa += w
		if _, ok := b[k]; ok {
			shared += w
		}
	}
	for _, w := range b {
		wb += w
	}
	if wa == 0 || wb == 0 {
		return 0
	}
	return shared / min(wa, wb)
}

var stop = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`the and for that this with you your are was were have has had not but from they them their then than there here
		what when where which who whom why how can could would should will shall may might must its it's i'm i've i'll we're we've don't doesn't didn't
		our his her she him one two all any some just only also very too now out into over about after before because been being does did done
		get got let let's make made want need use used using like please okay yes here's that's there's if or as at by to of in on is be do go so no
		an me my we us he it up am really still well sure thanks good great nice right know think see say said way lot bit`) {
		m[w] = true
	}
	return m
}()

var hanStop = func() map[rune]bool {
	m := map[rune]bool{}
	for _, r := range "的了是我你他她它们吧吗呢啊在有和也就都还把被给会能要这那个一不很到说好上下" {
		m[r] = true
	}
	return m
}()
