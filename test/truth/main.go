package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/syncline-dev/syncline/test/fleet"
)

// longest bounds a whole run beside its load.
const longest = 8 * time.Minute

// settings say what is played, and on what.
type settings struct {
	members int
	layers  int
	objects int           // on each member
	lasts   time.Duration // the load on the manager as it is
	dir     string
}

// kinds is how many there are of each of a layer's objects.
const kinds = 2

func (s settings) validate() error {
	if s.members < 1 || s.layers < 1 || s.lasts < time.Second {
		return errors.New("there must be a member, a layer and a second at least")
	}
	if s.objects < 1 || s.objects%(kinds*s.layers) != 0 {
		return fmt.Errorf("-objects: %d cannot be spread evenly over %d layers", s.objects, s.layers)
	}
	return nil
}

// sketches are the layers that are changed.
func (s settings) sketches() []sketch {
	var all []sketch
	for i := range s.layers {
		all = append(all, sketch{name: fmt.Sprintf("layer-%d", i+1), each: s.objects / s.layers / kinds})
	}
	return all
}

// uncheckedLasts is how long the load lasts that only has to bring one lie about.
func (s settings) uncheckedLasts() time.Duration { return max(s.lasts/4, 15*time.Second) }

func main() {
	s, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "truth:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, longest+s.lasts)
	defer cancel()
	if err := prove(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "truth:", err)
		os.Exit(1)
	}
}

func parse(args []string) (settings, error) {
	var s settings
	set := flag.NewFlagSet("truth", flag.ExitOnError)
	set.IntVar(&s.members, "members", 6, "number of members")
	set.IntVar(&s.layers, "layers", 5, "number of layers that are edited in turn")
	set.IntVar(&s.objects, "objects", 100, "number of objects on each member")
	seconds := set.Int("seconds", 60, "how long objects are changed and verdicts judged; a quarter of it without the checks")
	set.StringVar(&s.dir, "dir", ".truth", "where logs, audit logs, kubeconfigs and the changed source stay")
	if err := set.Parse(args); err != nil {
		return s, err
	}
	if set.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	s.lasts = time.Duration(*seconds) * time.Second
	return s, s.validate()
}

// prove runs and prints the report. What is wrong is the error.
func prove(ctx context.Context, s settings) error {
	r, err := run(ctx, s)
	if err != nil {
		return err
	}
	_, _ = os.Stdout.WriteString(r.String()) // for who reads along
	if err := r.writeStories(s.dir); err != nil {
		return err
	}
	if err := r.err(); err != nil {
		return fmt.Errorf("%w\nsee %s", err, s.dir)
	}
	return nil
}

// run plays on a fleet of its own.
func run(ctx context.Context, s settings) (r report, err error) {
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return r, err
	}
	unchecked, err := buildUnchecked(ctx, s.dir)
	if err != nil {
		return r, err
	}
	f, err := fleet.Start(ctx, fleet.Config{Members: fleet.Members(s.members), Dir: s.dir, Progress: os.Stderr, WithoutClusterAPI: true})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.Stop()) }()
	st, err := newStage(ctx, f, s, os.Stderr)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, st.close()) }()
	return st.play(ctx, unchecked)
}
