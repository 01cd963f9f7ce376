package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockInterval is how often a held lock is tried again: flock has no wait that a
// context could end.
const lockInterval = 200 * time.Millisecond

// lock takes the lock file at path, waiting as long as ctx allows. The kernel
// releases it with the process that holds it, however that ends.
func lock(ctx context.Context, path string, say *narrator) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	unlock = func() { _ = file.Close() }
	done := func() {}
	defer func() { done() }()
	for waited := false; ; waited = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			unlock()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !waited {
			done = say.during("waiting for another process that builds control planes")
		}
		select {
		case <-ctx.Done():
			unlock()
			return nil, fmt.Errorf("wait for lock %s: %w", path, ctx.Err())
		case <-time.After(lockInterval):
		}
	}
}
