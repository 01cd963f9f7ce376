package inventory

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/google/uuid"
)

// packing is a form that most values of a column have, in which they take fewer bytes.
type packing struct {
	// width is the number of bytes of a packed value.
	width int
	// pack says whether a value has the form; unpack is its exact inverse.
	pack   func(string) ([]byte, bool)
	unpack func([]byte) string
}

// plain is the packing of columns of any text.
var plain = packing{pack: func(string) ([]byte, bool) { return nil, false }}

// uuids are UUIDs as Kubernetes writes them.
var uuids = packing{
	width: 16,
	pack: func(s string) ([]byte, bool) {
		u, err := uuid.Parse(s)
		return u[:], err == nil && u.String() == s
	},
	unpack: func(raw []byte) string { return uuid.UUID(raw).String() },
}

// digests are those of object.Digest.
var digests = packing{
	width: 12,
	pack: func(s string) ([]byte, bool) {
		raw, err := base64.RawURLEncoding.DecodeString(s)
		return raw, err == nil && len(raw) == 12 && base64.RawURLEncoding.EncodeToString(raw) == s
	},
	unpack: base64.RawURLEncoding.EncodeToString,
}

// column is one column on its way into the stream. Each value has a number: 0 if it is
// packed, and otherwise the length of its text and one.
type column struct {
	packing
	numbers, texts, raw []byte
}

func (c *column) add(value string) {
	if raw, ok := c.pack(value); ok {
		c.number(0)
		c.raw = append(c.raw, raw...)
		return
	}
	c.number(len(value) + 1)
	c.texts = append(c.texts, value...)
}

func (c *column) number(n int) { c.numbers = binary.AppendUvarint(c.numbers, uint64(n)) }

func (c *column) appendTo(stream []byte) []byte {
	return append(append(append(stream, c.numbers...), c.texts...), c.raw...)
}

var errShort = errors.New("it ends too early")

// stream reads what columns wrote. After the first failure every answer is empty, and err
// says why.
type stream struct {
	rest []byte
	err  error
}

func (s *stream) fail(err error) {
	s.err = cmp.Or(s.err, err)
	s.rest = nil
}

// number reads one number, which no writer makes larger than the stream may be.
func (s *stream) number() int {
	n, width := binary.Uvarint(s.rest)
	if width <= 0 || n > maxUnpacked {
		s.fail(errShort)
		return 0
	}
	s.rest = s.rest[width:]
	return int(n)
}

func (s *stream) numbers(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = s.number()
	}
	return numbers
}

// room is n if the stream can still hold n things of which each takes at least so many bytes:
// a wrong number must not ask for more memory than the data can fill.
func (s *stream) room(n, each int) int {
	if n > len(s.rest)/each {
		s.fail(errShort)
		return 0
	}
	return n
}

func (s *stream) bytes(n int) []byte {
	n = s.room(n, 1)
	taken := s.rest[:n]
	s.rest = s.rest[n:]
	return taken
}

// column reads a column of n values.
func (s *stream) column(n int, form packing) []string {
	values, numbers := make([]string, n), s.numbers(n)
	for i, number := range numbers {
		if number > 0 {
			values[i] = string(s.bytes(number - 1))
		}
	}
	for i, number := range numbers {
		if number > 0 {
			continue
		}
		if raw := s.bytes(form.width); len(raw) > 0 {
			values[i] = form.unpack(raw)
		}
	}
	return values
}
