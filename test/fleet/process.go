package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// process is a running program. Whoever started it calls kill in the end.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once the process is gone and err is set
	err  error         // how it ended; to be read after done only
}

// command is a program to start: its file, arguments and the log that its output
// is appended to.
type command struct {
	path string
	args []string
	log  string
}

// pid is valid until the process is killed.
func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the process at once and returns when it is gone. A stopped process
// dies like any other.
func (p *process) kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// signal does nothing to a process that has ended.
func (p *process) signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to process %d: %w", sig, p.pid(), err)
	}
	return nil
}

// spawner starts processes from one thread of its own. Linux ends a child when
// the thread that started it ends, not its process; the Go runtime may end any
// thread that a goroutine has locked and not unlocked.
type spawner struct {
	requests chan spawnRequest
	done     chan struct{}
}

type spawnRequest struct {
	cmd    *exec.Cmd
	result chan<- error
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan spawnRequest), done: make(chan struct{})}
	go s.run()
	return s
}

func (s *spawner) run() {
	defer close(s.done)
	// Never unlocked: the thread ends with this goroutine, and with it whatever
	// was not killed before.
	runtime.LockOSThread()
	for request := range s.requests {
		request.result <- request.cmd.Start()
	}
}

// close must not be called before the last start has returned.
func (s *spawner) close() {
	close(s.requests)
	<-s.done
}

func (s *spawner) start(c command) (*process, error) {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor
	// No context: a process lives until it is killed.
	cmd := &exec.Cmd{Path: c.path, Args: append([]string{c.path}, c.args...), Stdout: log, Stderr: log}
	// Control planes hold much and allocate little: half the garbage costs few
	// cycles and saves a third of the memory.
	cmd.Env = append(os.Environ(), "GOGC=50")
	cmd.SysProcAttr = childAttributes()

	result := make(chan error, 1)
	s.requests <- spawnRequest{cmd, result}
	if err := <-result; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.path, err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// tail returns the last lines of a log, for an error message.
func tail(path string) string {
	const lines = 15
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}
