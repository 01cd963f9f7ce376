// Package compress packs what the hub stores when it is large.
//
// It is gzip with a bound on what it unfolds to: nobody who writes a few bytes to the hub can
// have the manager fill its memory. What the bytes mean, and from what size on they are
// packed, is the caller's.
package compress

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// Pack compresses. Equal bytes give equal bytes, from one build of the program.
func Pack(raw []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if _, err := w.Write(raw); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return packed.Bytes(), nil
}

// Unpack is the inverse of Pack. What is damaged, or unfolds to more than limit bytes, is an
// error.
func Unpack(packed []byte, limit int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("decompress: it unfolds to more than %d bytes", limit)
	}
	return raw, r.Close()
}
