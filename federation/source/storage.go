package source

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/syncline-dev/syncline/federation/compress"
)

const (
	// CompressAbove is the size in bytes from which content is stored compressed. Below it
	// people can read a revision with kubectl.
	CompressAbove = 64 << 10
	// MaxSize is the largest encoded content in bytes. etcd takes requests of 1.5 MiB, and
	// a revision needs room for its metadata.
	MaxSize = 1408 << 10
	// maxDecoded bounds what compressed content may unfold to.
	maxDecoded = 64 << 20
)

// TooLargeError says that a layer does not fit into one revision.
type TooLargeError struct {
	// Size and Limit are in bytes, after compression.
	Size, Limit int
}

// Error names the size, the limit and the way out.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the layer's content is %d bytes when stored, and a revision holds at most %d: split the layer in two", e.Size, e.Limit)
}

// compressed is the stored form of large content.
type compressed struct {
	Encoding string `json:"encoding"`
	Content  []byte `json:"content"`
}

const encodingGzip = "gzip"

// Encode is the content as a JSON object, as a revision stores it. What was added by With
// is left out. The error is a *TooLargeError or a fault of the content's own JSON.
func Encode(c Content) (json.RawMessage, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode content: %w", err)
	}
	if len(raw) > CompressAbove {
		packed, err := compress.Pack(raw)
		if err != nil {
			return nil, fmt.Errorf("encode content: %w", err)
		}
		if raw, err = json.Marshal(compressed{Encoding: encodingGzip, Content: packed}); err != nil {
			return nil, fmt.Errorf("encode content: %w", err)
		}
	}
	if len(raw) > MaxSize {
		return nil, &TooLargeError{Size: len(raw), Limit: MaxSize}
	}
	return raw, nil
}

// Decode is the inverse of Encode.
func Decode(raw json.RawMessage) (Content, error) {
	var stored compressed
	if err := json.Unmarshal(raw, &stored); err != nil {
		return Content{}, fmt.Errorf("decode content: %w", err)
	}
	switch stored.Encoding {
	case "":
	case encodingGzip:
		unpacked, err := compress.Unpack(stored.Content, maxDecoded)
		if err != nil {
			return Content{}, fmt.Errorf("decode content: %w", err)
		}
		raw = unpacked
	default:
		return Content{}, fmt.Errorf("decode content: encoding %q is not known to this version", stored.Encoding)
	}
	var c Content
	if err := json.Unmarshal(raw, &c); err != nil {
		return Content{}, fmt.Errorf("decode content: %w", err)
	}
	return c, nil
}

const (
	// nameLength leaves room for suffixes that callers add.
	nameLength = 200
	hashLength = 10
)

// Name is the name of the revision that holds the content, what was added by With
// included: <layer>-<hash>. It is a DNS subdomain; the same content of the same layer has
// the same name, and no two layers share one. The layer is named as layer.Ref writes it:
// "base" or "fleet/web".
func Name(layer string, c Content) (string, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("name revision of %s: %w", layer, err)
	}
	hash := sha256.New()
	for _, part := range append([][]byte{[]byte(layer), raw}, rawBytes(c.secret)...) {
		// The length in front keeps "ab","c" and "a","bc" apart.
		_ = binary.Write(hash, binary.BigEndian, uint64(len(part)))
		hash.Write(part)
	}
	name := layer[strings.LastIndex(layer, "/")+1:]
	if len(name) > nameLength {
		name = strings.TrimRight(name[:nameLength], "-.")
	}
	return name + "-" + hex.EncodeToString(hash.Sum(nil))[:hashLength], nil
}

func rawBytes(messages []json.RawMessage) [][]byte {
	parts := make([][]byte, len(messages))
	for i, m := range messages {
		parts[i] = m
	}
	return parts
}
