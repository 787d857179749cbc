package openclaw

import (
	"github.com/klauspost/compress/zstd"
)

// maxEvent is the largest event that the host compresses, with some room to spare, in bytes.
const maxEvent = 16 << 20

// decoder is safe for concurrent use as long as only DecodeAll is called.
var decoder, errDecoder = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxEvent))

// unpack decompresses an event.
func unpack(packed []byte) ([]byte, error) {
	if errDecoder != nil {
		return nil, errDecoder
	}
	return decoder.DecodeAll(packed, nil)
}
