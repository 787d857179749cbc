package parse

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	textunicode "golang.org/x/text/encoding/unicode"
)

// The encodings that carry a mark or show themselves by their zeros.
const (
	utf8Marked   = "utf-8 with BOM"
	utf16Little  = "utf-16le"
	utf16Big     = "utf-16be"
	notMarked    = ""
	leastForZero = 8 // bytes before zeros are taken for UTF-16
)

// decode reads a text in any of the common encodings. Line ends become "\n".
func decode(b []byte) string {
	s := decodeBytes(b)
	if strings.ContainsRune(s, '\r') {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	return strings.ReplaceAll(s, "\x00", "")
}

func decodeBytes(b []byte) string {
	switch encodingOf(b) {
	case utf8Marked:
		return strings.ToValidUTF8(string(b[3:]), "\uFFFD")
	case utf16Little:
		return must(textunicode.UTF16(textunicode.LittleEndian, textunicode.UseBOM), b)
	case utf16Big:
		return must(textunicode.UTF16(textunicode.BigEndian, textunicode.UseBOM), b)
	}
	if utf8.Valid(b) {
		return string(b)
	}
	return must(guess(b), b)
}

func must(e encoding.Encoding, b []byte) string {
	s, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return string(s)
}

func encodingOf(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte{0xEF, 0xBB, 0xBF}):
		return utf8Marked
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		return utf16Little
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return utf16Big
	case len(b) < leastForZero:
		return notMarked
	}
	var zeros [2]int
	head := b[:min(len(b), 4096)]
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	half := len(head) / 2
	switch {
	case zeros[0] == 0 && zeros[1]*10 > half*7:
		return utf16Little
	case zeros[1] == 0 && zeros[0]*10 > half*7:
		return utf16Big
	}
	return notMarked
}

// guess tells the encodings of bytes that are no UTF-8 apart, by how each language fills its code: kana shows Japanese, two bytes in the range of
// hangul Korean, second bytes below 0xA1 Big5. Single bytes above 127 among letters are a Latin alphabet.
func guess(b []byte) encoding.Encoding {
	head := b[:min(len(b), 1<<16)]
	if !paired(head) {
		return charmap.Windows1252
	}
	for _, e := range []encoding.Encoding{japanese.ShiftJIS, japanese.EUCJP} {
		if s := must(e, head); share(s, unicode.Hiragana, unicode.Katakana) > 0.2 && clean(s) {
			return e
		}
	}
	pairs, hangul, low := 0, 0, 0
	for i := 0; i+1 < len(head); i++ {
		if head[i] < 0x81 {
			continue
		}
		pairs++
		if head[i] >= 0xB0 && head[i] <= 0xC8 && head[i+1] >= 0xA1 {
			hangul++
		}
		if head[i+1] < 0xA1 {
			low++
		}
		i++
	}
	switch {
	case hangul*100 >= pairs*97 && clean(must(korean.EUCKR, head)):
		return korean.EUCKR
	case low*5 > pairs && clean(must(traditionalchinese.Big5, head)):
		return traditionalchinese.Big5
	case clean(must(simplifiedchinese.GB18030, head)):
		return simplifiedchinese.GB18030
	}
	return charmap.Windows1252
}

// paired reports whether most bytes above 127 stand beside another one, as in the two-byte codes, or are followed by a second byte of Shift-JIS.
func paired(b []byte) bool {
	high, beside := 0, 0
	for i, c := range b {
		if c < 0x80 {
			continue
		}
		high++
		if i > 0 && b[i-1] >= 0x80 || i+1 < len(b) && b[i+1] >= 0x80 {
			beside++
		}
	}
	return beside*10 > high*6
}

// clean reports whether a decoder made sense of all but a cut end.
func clean(s string) bool { return strings.Count(s, "\uFFFD") <= 1 }

// share is the share of letters above 127 that belong to some scripts.
func share(s string, scripts ...*unicode.RangeTable) float64 {
	of, all := 0, 0
	for _, r := range s {
		if r < 128 || !unicode.IsLetter(r) {
			continue
		}
		all++
		if unicode.IsOneOf(scripts, r) && (r < 0xFF66 || r > 0xFF9F) { // half-width kana is what other codes look like
			of++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(of) / float64(all)
}
