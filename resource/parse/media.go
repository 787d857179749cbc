package parse

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/dhowden/tag"
)

// sound says what is known of an audio file: its tags and, where the head of the file tells, its length.
func sound(_ context.Context, in Input) (Document, error) { return recording(in, "audio") }

// film says what is known of a video file.
func film(_ context.Context, in Input) (Document, error) { return recording(in, "video") }

func recording(in Input, kind string) (Document, error) {
	ext := strings.TrimPrefix(strings.ToLower(path.Ext(in.Name)), ".")
	if len(in.Body) == 0 || !binaryMedia(in.Body) {
		return Document{}, broken(in, fmt.Errorf("it holds no %s", kind))
	}
	d := Document{Media: true, Notes: []string{"no transcript: there is no model that listens"}}
	d.Outline = []string{"format: " + ext, fmt.Sprintf("size: %d bytes", len(in.Body))}
	what := fmt.Sprintf("%s %s", strings.ToUpper(ext), kind)
	if length := duration(in.Body); length > 0 {
		d.Outline = append(d.Outline, "length: "+length.Round(time.Millisecond).String())
		what += ", " + length.Round(time.Second).String()
	}
	if m, err := tag.ReadFrom(bytes.NewReader(in.Body)); err == nil {
		d.Title = strings.TrimSpace(m.Title())
		year := ""
		if m.Year() > 0 {
			year = strconv.Itoa(m.Year())
		}
		for _, f := range [][2]string{{"title", m.Title()}, {"artist", m.Artist()}, {"album", m.Album()}, {"genre", m.Genre()}, {"year", year},
			{"comment", m.Comment()}, {"lyrics", m.Lyrics()}} {
			if v := strings.TrimSpace(strings.ToValidUTF8(f[1], "")); v != "" {
				d.Outline = append(d.Outline, f[0]+": "+v)
			}
		}
		if m.Artist() != "" {
			what += ", by " + m.Artist()
		}
	}
	if d.Title != "" {
		what = d.Title + ": " + what
	}
	d.Abstract = what
	return d, nil
}

// binaryMedia tells a recording from a text with its name.
func binaryMedia(b []byte) bool {
	head := b[:min(len(b), 4096)]
	for _, c := range head {
		if c == 0 || c >= 0x80 {
			return true
		}
	}
	return false
}

// duration reads the length out of the head of WAV, FLAC and MP4 files; 0 where it is not told.
func duration(b []byte) time.Duration {
	switch {
	case len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WAVE":
		return wavLength(b)
	case len(b) > 26 && string(b[:4]) == "fLaC":
		rate := uint64(b[18])<<12 | uint64(b[19])<<4 | uint64(b[20])>>4
		samples := uint64(b[21]&0x0F)<<32 | uint64(binary.BigEndian.Uint32(b[22:]))
		return seconds(samples, rate)
	case len(b) > 8 && string(b[4:8]) == "ftyp":
		return mp4Length(b)
	}
	return 0
}

func wavLength(b []byte) time.Duration {
	rate := uint64(0)
	for at := uint64(12); at+8 <= uint64(len(b)); {
		name, size := string(b[at:at+4]), uint64(binary.LittleEndian.Uint32(b[at+4:]))
		switch {
		case name == "fmt " && at+20 <= uint64(len(b)):
			rate = uint64(binary.LittleEndian.Uint32(b[at+16:])) // bytes a second
		case name == "data":
			return seconds(size, rate)
		}
		at += 8 + size + size%2
	}
	return 0
}

// mp4Length finds moov/mvhd.
func mp4Length(b []byte) time.Duration {
	moov := box(b, "moov")
	mvhd := box(moov, "mvhd")
	switch {
	case len(mvhd) >= 20 && mvhd[0] == 0:
		return seconds(uint64(binary.BigEndian.Uint32(mvhd[16:])), uint64(binary.BigEndian.Uint32(mvhd[12:])))
	case len(mvhd) >= 32 && mvhd[0] == 1:
		return seconds(binary.BigEndian.Uint64(mvhd[24:]), uint64(binary.BigEndian.Uint32(mvhd[20:])))
	}
	return 0
}

// box is the content of the first box of a name.
func box(b []byte, name string) []byte {
	for len(b) >= 8 {
		size, head := uint64(binary.BigEndian.Uint32(b)), uint64(8)
		if size == 1 && len(b) >= 16 {
			size, head = binary.BigEndian.Uint64(b[8:]), 16
		}
		if size == 0 {
			size = uint64(len(b))
		}
		if size < head || size > uint64(len(b)) {
			return nil
		}
		if string(b[4:8]) == name {
			return b[head:size]
		}
		b = b[size:]
	}
	return nil
}

// seconds is n/rate, 0 where that is no sensible length.
func seconds(n, rate uint64) time.Duration {
	if rate == 0 || n/rate > 1<<20 {
		return 0
	}
	return time.Duration(float64(n) / float64(rate) * float64(time.Second))
}
