package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// narrator tells people what happens and when, in seconds since the beginning. It may be
// used from any goroutine.
type narrator struct {
	begin time.Time

	mu  sync.Mutex
	out io.Writer
}

func newNarrator(out io.Writer) *narrator { return &narrator{begin: time.Now(), out: out} }

// step begins something new.
func (n *narrator) step(format string, args ...any) { n.line("\n", "", format, args...) }

// detail is a part of the step.
func (n *narrator) detail(format string, args ...any) { n.line("", "  ", format, args...) }

func (n *narrator) line(before, indent, format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	n.print(fmt.Sprintf("%s%6.1f s  %s%s\n", before, time.Since(n.begin).Seconds(), indent, text))
}

// block shows a text that stands for itself.
func (n *narrator) block(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.print("\n")
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if line != "\n" {
			line = "    " + line
		}
		n.print(line)
	}
}

// print writes to whoever reads along; that nobody does any more is no reason to stop.
func (n *narrator) print(text string) { _, _ = io.WriteString(n.out, text) }

// Write makes the lines of others details. Each call brings whole lines.
func (n *narrator) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		n.detail("%s", strings.TrimPrefix(strings.TrimSpace(string(line)), "fleet: "))
	}
	return len(p), nil
}

// took is a time that something took, as precise as people care for.
func took(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// number is a small number in words, with what is counted.
func number(n int, one, many string) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	what := many
	if n == 1 {
		what = one
	}
	if n < len(words) {
		return words[n] + " " + what
	}
	return fmt.Sprintf("%d %s", n, what)
}
