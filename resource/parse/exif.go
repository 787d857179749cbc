package parse

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// exifTags are the fields that are read. Where a picture was taken is left out on purpose.
var exifTags = map[uint16]string{0x010F: "camera maker", 0x0110: "camera", 0x0132: "changed", 0x9003: "taken", 0x010E: "description"}

const exifPointer = 0x8769 // to the directory with the time

// exif lists what a JPEG's EXIF block says; nil when there is none or it is broken.
func exif(b []byte) []string {
	block := exifBlock(b)
	if len(block) < 8 {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if block[0] == 'M' {
		order = binary.BigEndian
	}
	r := exifReader{block: block, order: order}
	r.directory(order.Uint32(block[4:]), 0)
	return r.found
}

// exifBlock finds the TIFF structure in the segments before a JPEG's picture.
func exifBlock(b []byte) []byte {
	if !bytes.HasPrefix(b, []byte{0xFF, 0xD8}) {
		return nil
	}
	for at := 2; at+4 <= len(b) && b[at] == 0xFF; {
		size := int(binary.BigEndian.Uint16(b[at+2:]))
		end := at + 2 + size
		if size < 2 || end > len(b) || b[at+1] == 0xDA {
			return nil
		}
		if body := b[at+4 : end]; b[at+1] == 0xE1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")) {
			return body[6:]
		}
		at = end
	}
	return nil
}

type exifReader struct {
	block []byte
	order binary.ByteOrder
	found []string
}

func (r *exifReader) directory(at uint32, depth int) {
	if depth > 2 || int64(at)+2 > int64(len(r.block)) {
		return
	}
	n := int(r.order.Uint16(r.block[at:]))
	for i := range n {
		from := int64(at) + 2 + 12*int64(i)
		if from+12 > int64(len(r.block)) {
			return
		}
		e := r.block[from : from+12]
		tag, kind, count, value := r.order.Uint16(e), r.order.Uint16(e[2:]), r.order.Uint32(e[4:]), e[8:12]
		if tag == exifPointer {
			r.directory(r.order.Uint32(value), depth+1)
		}
		name, ok := exifTags[tag]
		if !ok || kind != 2 || count == 0 || count > 1000 {
			continue
		}
		text := value[:min(count, 4)]
		if count > 4 {
			start := int64(r.order.Uint32(value))
			if start+int64(count) > int64(len(r.block)) {
				continue
			}
			text = r.block[start : start+int64(count)]
		}
		if s := strings.TrimSpace(strings.ToValidUTF8(strings.TrimRight(string(text), "\x00"), "")); s != "" {
			r.found = append(r.found, name+": "+s)
		}
	}
}
