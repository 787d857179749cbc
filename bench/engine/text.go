package enginebench

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer makes text that reads to an index like the real thing: few words very often, many rarely, names that come back, code, some
// Chinese. The same seed writes the same text.
type writer struct {
	*rand.Rand
	zipf *rand.Zipf
}

func newWriter(seed uint64) *writer {
	r := rand.New(rand.NewPCG(seed, 0x5ca1d))
	return &writer{Rand: r, zipf: rand.NewZipf(r, 1.2, 4, uint64(len(vocabulary)-1))}
}

// common words are what prompts are made of as well: every search for them finds a lot.
var common = strings.Fields(`the we it is to and of in that for on with this be as at have not are from or an will can but should
database server deploy test error file config token cache user project service port release branch query index memory session
version update build change check please what when where did how about decide use run fix add remove name list value default
timeout review meeting design schema table migration backup password key address house bill rent price week friday monday`)

var syllables = strings.Fields("ba ko ri ten sul mar vo ni pra del qui lo ser ta zen mu fri gol hex ja")

var vocabulary = makeVocabulary()

// makeVocabulary is the common words first, then eight thousand rare ones.
func makeVocabulary() []string {
	words := append([]string(nil), common...)
	for i := range 8000 {
		n := len(syllables)
		words = append(words, syllables[i%n]+syllables[i/n%n]+syllables[i/n/n%n])
	}
	return words
}

var chinese = []string{"数据库", "服务器", "端口", "部署", "测试", "我们", "决定", "使用", "房租", "账单", "周五", "会议", "设计", "缓存",
	"更新", "项目", "版本", "错误", "修复", "检查", "提醒", "晓雨", "合租", "付款", "备份"}

func (w *writer) word() string { return vocabulary[w.zipf.Uint64()] }

func (w *writer) words(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = w.word()
	}
	return strings.Join(list, " ")
}

func (w *writer) sentence() string {
	s := w.words(6 + w.IntN(14))
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

func (w *writer) prose(sentences int) string {
	list := make([]string, sentences)
	for i := range list {
		list[i] = w.sentence()
		if w.IntN(12) == 0 {
			list[i] = w.sentenceZH()
		}
	}
	return strings.Join(list, " ")
}

func (w *writer) sentenceZH() string {
	var b strings.Builder
	for range 4 + w.IntN(8) {
		b.WriteString(chinese[w.IntN(len(chinese))])
	}
	return b.String() + "。"
}

func (w *writer) identifier() string {
	return fmt.Sprintf("%s_%s", w.word(), vocabulary[w.IntN(len(vocabulary))])
}

func (w *writer) path() string {
	return fmt.Sprintf("internal/%s/%s.go", w.word(), w.identifier())
}

func (w *writer) code(lines int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "func %s(ctx context.Context) error {\n", w.identifier())
	for range lines {
		fmt.Fprintf(&b, "\tif err := %s(ctx, %q, %d); err != nil {\n\t\treturn fmt.Errorf(\"%s: %%w\", err)\n\t}\n",
			w.identifier(), w.word(), w.IntN(9000), w.word())
	}
	return b.String() + "}\n"
}

// log is a tool's output: up to some ten kilobytes.
func (w *writer) log() string {
	var b strings.Builder
	for i := range 5 + w.IntN(60) {
		fmt.Fprintf(&b, "%04d %s:%d %s\n", i, w.path(), w.IntN(500), w.words(4+w.IntN(8)))
	}
	return b.String()
}

// builtinPrompts use frequent words, so that recall has the most to do.
var builtinPrompts = []string{
	"What did we decide about the database port for the server?",
	"Please check the config of the cache service and the default timeout value",
	"When is the meeting about the design review this week?",
	"How should we deploy the new version of the project to the server?",
	"Where is the backup of the user table and the migration?",
	"What was the error in the test when we changed the index schema?",
	"我们之前决定使用哪个数据库和端口?",
	"Which branch has the fix for the session token and the memory cache?",
	"How much is the rent and the bill for the house on Friday?",
	"Remove the password from the config file and update the release build",
	"What is the name of the service that runs the query on the index?",
	"下次会议是周五吗?账单付款了没有?",
}
