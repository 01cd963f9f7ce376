package credential

import (
	"context"
	"io"
	"sync"
)

// flight is one request, from before it is sent until its answer is read or closed.
type flight struct {
	watch      bool
	cancel     context.CancelCauseFunc
	generation *generation
	once       sync.Once
}

func (f *flight) end() {
	f.once.Do(func() {
		f.cancel(nil)
		f.generation.end(f)
	})
}

// body is the answer to a flight.
type body struct {
	io.ReadCloser
	flight *flight
}

// Read makes every end of a watch a normal one. Whether the server closed the stream, the
// network cut it or the credentials were replaced, the reader's answer is the same: watch
// again from the last event. Told of an error instead, a reflector would list everything.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.flight.end()
		if b.flight.watch {
			err = io.EOF
		}
	}
	return n, err
}

func (b *body) Close() error {
	defer b.flight.end()
	return b.ReadCloser.Close()
}
