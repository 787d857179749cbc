package parse_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/skald-engine/skald"
)

func encoded(t testing.TB, encode func(io.Writer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewRGBA(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t testing.TB) []byte {
	plain := encoded(t, func(w io.Writer, i image.Image) error { return jpeg.Encode(w, i, nil) })
	block := exifBlock(map[uint16]string{0x010F: "Skald Optics", 0x0110: "C1", 0x9003: "2026:01:02 03:04:05"})
	segment := append([]byte("Exif\x00\x00"), block...)
	head := binary.BigEndian.AppendUint16([]byte{0xFF, 0xE1}, uint16(len(segment)+2))
	return bytes.Join([][]byte{plain[:2], head, segment, plain[2:]}, nil)
}

// exifBlock is a TIFF structure with the tags, those above 0x9000 in a directory of their own.
func exifBlock(tags map[uint16]string) []byte {
	le := binary.LittleEndian
	entry := func(b []byte, tag, kind uint16, count, value uint32) []byte {
		return le.AppendUint32(le.AppendUint32(le.AppendUint16(le.AppendUint16(b, tag), kind), count), value)
	}
	maker, model, taken := tags[0x010F], tags[0x0110], tags[0x9003]
	const first, second, texts = 8, 8 + 2 + 3*12 + 4, 8 + 2 + 3*12 + 4 + 2 + 12 + 4
	b := le.AppendUint32([]byte("II*\x00"), first)
	b = le.AppendUint16(b, 3)
	b = entry(b, 0x010F, 2, uint32(len(maker)+1), texts)
	var short [4]byte
	copy(short[:], model)
	b = entry(b, 0x0110, 2, uint32(len(model)+1), le.Uint32(short[:]))
	b = entry(b, 0x8769, 4, 1, second)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint16(b, 1)
	b = entry(b, 0x9003, 2, uint32(len(taken)+1), uint32(texts+len(maker)+1))
	b = le.AppendUint32(b, 0)
	return append(b, maker+"\x00"+taken+"\x00"...)
}

func TestPictures(t *testing.T) {
	t.Parallel()
	for name, body := range map[string][]byte{
		"a.png": encoded(t, png.Encode), "a.jpg": jpegOf(t), "a.gif": encoded(t, func(w io.Writer, i image.Image) error { return gif.Encode(w, i, nil) }),
		"a.bmp": encoded(t, bmp.Encode), "a.tiff": encoded(t, func(w io.Writer, i image.Image) error { return tiff.Encode(w, i, nil) }),
	} {
		d := read(t, name, body)
		if !d.Media || !strings.Contains(d.Abstract, "3 x 2") || !strings.Contains(strings.Join(d.Notes, ""), "no caption") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	equal(t, "exif", strings.Join(read(t, "a.jpg", jpegOf(t)).Outline[2:], "; "), "camera maker: Skald Optics; camera: C1; taken: 2026:01:02 03:04:05")
	refused(t, "a.png", []byte("no picture"), skald.KindInvalid, "broken")
	svg := read(t, "a.svg", []byte(`<svg xmlns="s"><text>harbour map</text></svg>`))
	equal(t, "svg", strings.Join(svg.Outline, "; "), "format: svg; size: 45 bytes; words: harbour map")
}

func wav() []byte {
	le := binary.LittleEndian
	b := append([]byte("RIFF\x00\x00\x00\x00WAVEfmt "), 16, 0, 0, 0)
	b = le.AppendUint16(le.AppendUint16(b, 1), 1)
	b = le.AppendUint32(le.AppendUint32(b, 8000), 8000)
	b = le.AppendUint16(le.AppendUint16(b, 1), 8)
	b = le.AppendUint32(append(b, "data"...), 20000)
	return append(b, make([]byte, 20000)...)
}

func mp4() []byte {
	be := binary.BigEndian
	box := func(name string, body []byte) []byte {
		return append(append(be.AppendUint32(nil, uint32(len(body)+8)), name...), body...)
	}
	mvhd := make([]byte, 12, 100)
	mvhd = be.AppendUint32(be.AppendUint32(mvhd, 1000), 90_500)
	return append(box("ftyp", []byte("isom\x00\x00\x00\x00")), box("moov", box("mvhd", append(mvhd, make([]byte, 80)...)))...)
}

func mp3() []byte {
	frame := func(id, text string) []byte {
		body := append([]byte{3}, text...)
		return append(append(append([]byte(id), binary.BigEndian.AppendUint32(nil, uint32(len(body)))...), 0, 0), body...)
	}
	frames := append(frame("TIT2", "Ebb"), frame("TPE1", "The Waves")...)
	size := len(frames)
	return append(append([]byte{'I', 'D', '3', 3, 0, 0, 0, 0, byte(size >> 7), byte(size & 0x7F)}, frames...), 0xFF, 0xFB, 0x90, 0)
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body     []byte
		abstract string
	}{
		"a.wav": {wav(), "WAV audio, 3s"}, "a.mp4": {mp4(), "MP4 video, 1m31s"}, "a.mp3": {mp3(), "Ebb: MP3 audio, by The Waves"},
		"a.mkv": {[]byte("\x1a\x45\xdf\xa3"), "MKV video"},
	} {
		d := read(t, name, c.body)
		equal(t, name, d.Abstract, c.abstract)
		if !d.Media || !strings.Contains(strings.Join(d.Notes, ""), "no transcript") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	refused(t, "a.mp3", []byte("only words"), skald.KindInvalid, "broken")
}
