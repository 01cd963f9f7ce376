package member

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Servers tell what they have in store for a watch at once, as fast as it is read: after a
// second without an event all of it is told. Where events never cease, five seconds do.
const (
	settledAfter  = time.Second
	settledAtMost = 5 * time.Second
)

// stream is a watch that outlasts its connections: where one ends, it goes on from the last
// version that was delivered. Its user sees the end only of what cannot be resumed, which
// is a first stream that was cut, and errors that the server sent.
type stream struct {
	*kindWatch
	opts    metav1.ListOptions // of the next connection
	begun   bool               // the initial events are through
	results chan watch.Event
	cancel  context.CancelFunc
	done    chan struct{}
}

// stream makes a watch of its first connection.
func (k *kindWatch) stream(ctx context.Context, opts metav1.ListOptions, first watch.Interface) *stream {
	ctx, cancel := context.WithCancel(ctx)
	s := &stream{
		kindWatch: k,
		opts:      opts,
		begun:     opts.SendInitialEvents == nil,
		results:   make(chan watch.Event),
		cancel:    cancel,
		done:      make(chan struct{}),
	}
	go s.run(ctx, first)
	return s
}

// ResultChan implements watch.Interface.
func (s *stream) ResultChan() <-chan watch.Event { return s.results }

// Stop implements watch.Interface. It returns when the connection is closed.
func (s *stream) Stop() {
	s.cancel()
	<-s.done
}

func (s *stream) run(ctx context.Context, connection watch.Interface) {
	defer close(s.done)
	defer close(s.results)
	defer s.cancel()
	backoff := endedBackoff
	for {
		opened := time.Now()
		goesOn := s.relay(ctx, connection)
		connection.Stop()
		if !goesOn || ctx.Err() != nil {
			return
		}
		if time.Since(opened) > endedBackoff.Cap {
			backoff = endedBackoff
		}
		s.pause(ctx, backoff.Step())
		next, err := s.open(ctx, s.opts)
		if err != nil {
			s.send(ctx, errorEvent(err))
			return
		}
		connection = next
	}
}

// relay passes on what a connection delivers, and reports whether the watch goes on when it
// has ended. The connection of a watch in doubt is given up when the member is back in
// sight: what it has yet to tell, nobody knows.
func (s *stream) relay(ctx context.Context, connection watch.Interface) (goesOn bool) {
	settled := time.NewTimer(settledAfter)
	defer settled.Stop()
	latest := time.Now().Add(settledAtMost)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-settled.C:
			if s.begun && s.inDoubt() {
				return true
			}
			if s.begun {
				s.caughtUp()
			}
		case <-s.now:
			if s.begun && s.inDoubt() {
				return true
			}
		case event, open := <-connection.ResultChan():
			if !open {
				return s.begun
			}
			if !s.send(ctx, event) || event.Type == watch.Error {
				return false
			}
			s.delivered(event)
			settled.Reset(max(0, min(settledAfter, time.Until(latest))))
		}
	}
}

// send hands an event over; false if nobody takes it any more.
func (s *stream) send(ctx context.Context, event watch.Event) bool {
	select {
	case s.results <- event:
		return true
	case <-ctx.Done():
		return false
	}
}

// delivered moves the place on from which the next connection resumes.
func (s *stream) delivered(event watch.Event) {
	object, err := meta.Accessor(event.Object)
	if err != nil {
		return
	}
	if event.Type == watch.Bookmark && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
		s.begun = true
		s.opts.SendInitialEvents, s.opts.ResourceVersionMatch = nil, ""
	}
	if s.begun {
		s.opts.ResourceVersion = object.GetResourceVersion()
	}
}

// errorEvent is an error as a server would have sent it in the stream.
func errorEvent(err error) watch.Event {
	status := apierrors.NewInternalError(err).Status()
	if sent := apierrors.APIStatus(nil); errors.As(err, &sent) {
		status = sent.Status()
	}
	return watch.Event{Type: watch.Error, Object: &status}
}
