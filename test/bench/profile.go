package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// profile reads what a manager's profiles tell of it.
type profile struct{ address string }

var (
	heapAlloc  = regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)$`)
	goroutines = regexp.MustCompile(`^goroutine profile: total (\d+)\n`)
)

// footprint is what a manager takes while nothing happens.
type footprint struct {
	heap       float64 // bytes that are reachable, after a forced collection
	goroutines int
}

// footprint is the least of what is seen within a time, so that what passes does not count.
// It is known early when it is no more than it was.
func (b *bench) footprint(ctx context.Context, within time.Duration, was footprint) (footprint, error) {
	least := footprint{heap: math.Inf(1), goroutines: math.MaxInt}
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(time.Second) {
		heap, err := b.profile.heap(ctx)
		if err != nil {
			return footprint{}, err
		}
		running, err := b.profile.goroutines(ctx)
		if err != nil {
			return footprint{}, err
		}
		least = footprint{min(least.heap, heap), min(least.goroutines, running)}
		if least.heap <= was.heap && least.goroutines <= was.goroutines {
			break
		}
	}
	return least, nil
}

// heap is how many bytes are allocated after a forced collection.
func (p profile) heap(ctx context.Context) (float64, error) {
	n, err := p.read(ctx, "heap?gc=1&debug=1", heapAlloc)
	return float64(n), err
}

func (p profile) goroutines(ctx context.Context) (int, error) {
	return p.read(ctx, "goroutine?debug=1", goroutines)
}

// read finds a number in a profile.
func (p profile) read(ctx context.Context, name string, number *regexp.Regexp) (n int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/debug/pprof/"+name, nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("profile of the manager: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, fmt.Errorf("profile of the manager: %w", err)
	}
	found := number.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("profile of the manager: no number in %.100q", bytes.TrimSpace(text))
	}
	return strconv.Atoi(string(found[1]))
}

func freeAddress(ctx context.Context) (address string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	return listener.Addr().String(), nil
}
