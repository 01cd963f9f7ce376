package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	// pollInterval is how often a starting cluster is asked whether it is there.
	pollInterval = 50 * time.Millisecond
	// startTimeout bounds the start of one cluster once its programs are built. It
	// takes two or three seconds on an idle machine.
	startTimeout = 3 * time.Minute
	// clashTries bounds how often a server is started on another port because the
	// one chosen for it was taken in between.
	clashTries = 5
)

// errPortTaken says that a server could not listen on its port.
var errPortTaken = errors.New("port is taken")

// poll calls done until it returns true or ctx ends; the error then holds the
// last reason why it was not true.
func poll(ctx context.Context, what string, done func(context.Context) (bool, error)) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		ok, err := done(ctx)
		if ok {
			return nil
		}
		var final *endedError
		if errors.As(err, &final) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, errors.Join(ctx.Err(), err))
		case <-ticker.C:
		}
	}
}

// endedError says that a process ended by itself, and why, as far as its log says.
type endedError struct {
	name string
	err  error
	log  string // the last lines, for people
	port bool   // it could not have its port
}

func (e *endedError) Error() string {
	return fmt.Sprintf("%s ended by itself: %v; its log ends with:\n%s", e.name, e.err, e.log)
}

func (e *endedError) Unwrap() error {
	if e.port {
		return errPortTaken
	}
	return e.err
}

// checkRunning returns an endedError for the first of the processes that ended.
// What the log held before since is of earlier processes.
func checkRunning(name, log string, since int64, processes []*process) error {
	for _, p := range processes {
		select {
		case <-p.done:
			return &endedError{
				name: name,
				err:  p.err,
				log:  tail(log),
				port: strings.Contains(written(log, since), "address already in use"),
			}
		default:
		}
	}
	return nil
}

// size returns the size of a file, 0 if it is not there.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// written returns what was written to a file behind an offset.
func written(path string, since int64) string {
	content, err := os.ReadFile(path)
	if err != nil || int64(len(content)) < since {
		return ""
	}
	return string(content[since:])
}
