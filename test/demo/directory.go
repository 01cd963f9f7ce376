package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// directory holds the demo's state, and is its own while it runs.
type directory struct {
	path string
	lock *os.File
}

// openDirectory makes the directory or takes over that of an earlier demo, without the
// files that would mislead.
func openDirectory(path string) (directory, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return directory{}, err
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return directory{}, err
	}
	// The kernel gives it back with the process, however that ends.
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return directory{}, fmt.Errorf("another demo is running in %s: end it first", path)
		}
		return directory{}, fmt.Errorf("lock %s: %w", path, err)
	}
	d := directory{path: path, lock: lock}
	return d, d.remove("*.log", "*.pid", "*.kubeconfig")
}

func (d directory) close() {
	_ = d.remove("*.pid") // what they name has ended
	_ = d.lock.Close()
}

func (d directory) remove(patterns ...string) error {
	var errs []error
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(d.path, pattern))
		errs = append(errs, err)
		for _, file := range files {
			errs = append(errs, os.Remove(file))
		}
	}
	return errors.Join(errs...)
}

// writePID leaves NAME.pid for people who want to end a process by hand.
func (d directory) writePID(name string, pid int) error {
	return os.WriteFile(filepath.Join(d.path, name+".pid"), []byte(strconv.Itoa(pid)+"\n"), 0o644)
}

// show is a path as people here would write it.
func (directory) show(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	relative, err := filepath.Rel(here, path)
	if err != nil || strings.HasPrefix(relative, "..") {
		return path
	}
	return relative
}
