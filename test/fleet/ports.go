package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are taken from below the range that Linux and macOS hand out to outgoing
// connections: a member that is down keeps its port for its return, and nothing
// else may happen to get it meanwhile.
const (
	firstPort = 20000
	lastPort  = 32000
)

// portTries bounds the search for a free port.
const portTries = 100

// ports remembers what this process has handed out, since a port is free until
// the server that it was chosen for listens on it. Other processes are not seen:
// who starts a server must expect that its port is taken in between.
type ports struct {
	mu     sync.Mutex
	locked struct {
		taken map[int]bool
	}
}

// handedOut is shared by all fleets of the process.
var handedOut ports

// free returns a port of the loopback address that nobody listens on.
func (p *ports) free(ctx context.Context) (int, error) {
	for range portTries {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if p.take(port) && listenable(ctx, port) {
			return port, nil
		}
	}
	return 0, errors.New("find a free port: too many are taken")
}

func (p *ports) take(port int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.locked.taken[port] {
		return false
	}
	if p.locked.taken == nil {
		p.locked.taken = map[int]bool{}
	}
	p.locked.taken[port] = true
	return true
}

func listenable(ctx context.Context, port int) bool {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address(port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

func address(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}

const loopback = "127.0.0.1"

func url(scheme string, port int) string {
	return fmt.Sprintf("%s://%s", scheme, address(port))
}
