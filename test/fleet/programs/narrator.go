package programs

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// narrator tells a person that something long still goes on.
type narrator struct {
	out io.Writer
}

func newNarrator(out io.Writer) *narrator {
	if out == nil {
		out = io.Discard
	}
	return &narrator{out: out}
}

// during writes what goes on now and every progressInterval, with the seconds
// gone by, until the returned function is called. That function returns when
// nothing more will be written.
func (n *narrator) during(what string) (done func()) {
	start := time.Now()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	n.line("%s\n", what)
	wg.Go(func() {
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				n.line("%s: %.0f s\n", what, time.Since(start).Seconds())
			}
		}
	})
	return func() {
		close(stop)
		wg.Wait()
		n.line("%s: took %.0f s\n", what, time.Since(start).Seconds())
	}
}

func (n *narrator) line(format string, args ...any) {
	_, _ = fmt.Fprintf(n.out, format, args...)
}
