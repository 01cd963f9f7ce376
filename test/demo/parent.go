package main

import (
	"context"
	"os"
	"strings"
	"time"
)

// withParent ends the context when the `go run` that started the demo has ended. A Ctrl-C
// reaches both; any other signal reaches go alone, which does not pass it on.
func withParent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	program, err := os.Executable()
	if err != nil || !strings.Contains(program, "go-build") {
		return ctx, cancel
	}
	parent := os.Getppid()
	go func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for os.Getppid() == parent {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
		cancel()
	}()
	return ctx, cancel
}
