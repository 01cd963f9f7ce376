package fleet

import (
	"fmt"
	"path/filepath"
	"syscall"
	"time"
)

// Process is a program that runs beside the fleet's clusters, such as a manager of the
// product. It ends with the fleet at the latest, also if the fleet's own process is killed.
type Process struct {
	name    string
	log     string
	process *process
}

// Run starts a program with its output in Dir/NAME.log.
func (f *Fleet) Run(name, path string, args ...string) (*Process, error) {
	log := filepath.Join(f.dir, name+".log")
	started, err := f.spawner.start(command{path: path, args: args, log: log})
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", name, err)
	}
	p := &Process{name: name, log: log, process: started}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locked.beside = append(f.locked.beside, p)
	return p, nil
}

// Name is the name that the program was started under.
func (p *Process) Name() string { return p.name }

// PID is the process's id while it runs.
func (p *Process) PID() int { return p.process.pid() }

// LogPath is the file with the program's output.
func (p *Process) LogPath() string { return p.log }

// LogTail is the last lines of that file.
func (p *Process) LogTail() string { return tail(p.log) }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.process.done }

// Kill ends the process at once and returns when it is gone.
func (p *Process) Kill() error { return p.process.kill() }

// Signal sends a signal; one that has ended gets none.
func (p *Process) Signal(sig syscall.Signal) error { return p.process.signal(sig) }

// Terminate asks the process to end, and returns when it is gone. It is an error if that
// takes longer than the timeout, or if the program says that it failed.
func (p *Process) Terminate(timeout time.Duration) error {
	if err := p.process.signal(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.process.done:
		if p.process.err != nil {
			return fmt.Errorf("%s ended: %w\n%s", p.name, p.process.err, p.LogTail())
		}
		return nil
	case <-timer.C:
		return fmt.Errorf("%s did not end within %s\n%s", p.name, timeout, p.LogTail())
	}
}
