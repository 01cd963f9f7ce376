package member

import (
	"context"
	"errors"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/member"
	"github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/object"
)

// concurrency bounds the requests under way to one member.
const concurrency = 16

// executor carries a plan out on one member, and writes nowhere else.
type executor struct {
	member *member.Member
	hub    string
	pages  *pages
	now    time.Time
}

// report is what became of the steps and removals, in the plan's order.
type report struct {
	// entries are the new inventory entries by object, of steps and of removals that are
	// not yet seen to be gone.
	entries entries
	// foundations says that a namespace or CRD was applied: others may no longer wait.
	foundations bool
	// sent and refused count what the member took and what it did not.
	sent, refused int
	// mended are the objects that others had changed and that are as wanted again.
	mended []object.ID
	// cleared says that something was found gone of which no watch will tell: what waited for
	// that can go on.
	cleared bool
	// lost is set once ownership was lost or writing paused: the rest was not sent.
	lost error
}

// stopped says that the guard let nothing pass any more, and the rest was not sent.
func (r *report) stopped() bool { return r.lost != nil }

// disowned says that it did so since the member is not ours.
func (r *report) disowned() bool { return errors.Is(r.lost, member.ErrNotOwner) }

// outcome is what became of one step.
type outcome struct {
	observed member.Observation
	err      error
}

// apply sends what the plan says, foundations first and then kind by kind, and waits for
// each kind before the next.
func (e *executor) apply(ctx context.Context, steps []step, done *report) {
	for begin := 0; begin < len(steps) && !done.stopped(); {
		end := begin + 1
		for end < len(steps) && object.SameWave(steps[begin].object.ID, steps[end].object.ID) {
			end++
		}
		e.wave(ctx, steps[begin:end], done)
		begin = end
	}
}

func (e *executor) wave(ctx context.Context, steps []step, done *report) {
	outcomes := make([]outcome, len(steps))
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i := range steps {
		if steps[i].verb != apply {
			continue
		}
		group.Go(func() error {
			outcomes[i] = e.send(ctx, &steps[i])
			return nil // a refused object is a result, and stops nobody else
		})
	}
	_ = group.Wait() // no function returns an error
	for i := range steps {
		if steps[i].verb == apply {
			e.settle(&steps[i], outcomes[i], done)
		}
	}
}

// send applies one object. What its layer has come to cede is given away first.
func (e *executor) send(ctx context.Context, s *step) outcome {
	if len(s.object.Ceded) > 0 && s.entry.Applied != "" {
		if err := e.member.Cede(ctx, s.object.ID, s.object.GVK.Version, s.object.Ceded); err != nil {
			return outcome{err: err}
		}
	}
	applied, err := e.member.Apply(ctx, marked(s.object, e.hub))
	return outcome{observed: applied.Observation, err: err}
}

// settle turns the outcome of one request into an inventory entry or a problem.
func (e *executor) settle(s *step, out outcome, done *report) {
	id := s.object.ID
	if errors.Is(out.err, member.ErrNotOwner) || errors.Is(out.err, member.ErrPaused) {
		done.lost = out.err
		return
	}
	if out.err != nil {
		fault := member.Classify(out.err)
		e.pages.refuse(id, s.applied, refusedBy(fault, s.object.Home, id), terminal(fault), e.now)
		done.refused++
		s.verb, s.why = hold, "refused by the member"
		return
	}
	e.pages.accepted(id)
	done.sent++
	done.entries[id] = v1alpha1.InventoryEntry{
		ID: id.Key(), Version: s.object.GVK.Version, UID: out.observed.UID,
		Applied: s.applied, Owned: out.observed.Owned,
	}
	s.entry, s.verb = done.entries[id], keep
	done.foundations = done.foundations || object.Foundation(id)
	if s.drifted {
		done.mended = append(done.mended, id)
	}
}

// remove deletes what no layer wants, in the plan's order. An entry goes from the
// inventory when its object is seen to be gone.
func (e *executor) remove(ctx context.Context, removals []removal, done *report) {
	for _, r := range removals {
		if done.stopped() {
			return
		}
		if r.verb != apply {
			continue
		}
		isGone, err := e.removeOne(ctx, r)
		switch {
		case errors.Is(err, member.ErrNotOwner) || errors.Is(err, member.ErrPaused):
			done.lost = err
		case err != nil:
			fault := member.Classify(err)
			e.pages.refuse(r.id, removing, refusedBy(fault, r.home, r.id), terminal(fault), e.now)
			done.refused++
		case isGone:
			e.pages.accepted(r.id)
			delete(done.entries, r.id)
			done.cleared = true
		}
	}
}

// removeOne deletes the object if it is the one that we made, and reports whether it is
// gone. It looks first: an object that another made, or that no longer carries our mark,
// is not ours to delete and leaves the inventory.
func (e *executor) removeOne(ctx context.Context, r removal) (isGone bool, err error) {
	current, err := e.member.Get(ctx, r.id, r.entry.Version)
	switch {
	case gone(err):
		return true, nil
	case err != nil:
		return false, err
	case current.GetLabels()[v1alpha1.LabelHub] != e.hub:
		return true, nil
	case r.entry.UID != "" && current.GetUID() != r.entry.UID:
		return true, nil
	case current.GetDeletionTimestamp() != nil:
		return false, nil
	}
	return false, e.member.Delete(ctx, r.id, r.entry.Version, current.GetUID())
}

// newReport starts from what the inventory lists.
func newReport(listed inventory) report {
	r := report{entries: entries{}}
	for id, held := range listed {
		r.entries[id] = held.entry
	}
	return r
}

// refusedBy is a failure as a problem of the object.
func refusedBy(fault member.Failure, home layer.Ref, id object.ID) object.Problem {
	return object.Problem{
		Severity: object.Error, Layer: home.String(), Object: id, Reason: fault.Reason, Detail: fault.Message,
	}
}

// terminal says whether a failure waits for a person. A kind that is not served may come
// with the next CustomResourceDefinition, whoever installs it, and we do not see when.
func terminal(fault member.Failure) bool {
	return fault.Class == member.Terminal && fault.Reason != member.ReasonKindNotServed
}

// gone says whether an error means that an object is not there, nor can be.
func gone(err error) bool {
	if err == nil {
		return false
	}
	switch member.Classify(err).Reason {
	case member.ReasonNotFound, member.ReasonKindNotServed, member.ReasonNamespaceMissing:
		return true
	}
	return false
}

// marked is the object as it is sent: with the marks by which our watches and people know
// it. What the fold made is shared between members and is not touched.
func marked(w wanted, hub string) *unstructured.Unstructured {
	content := maps.Clone(w.Value)
	metadata := cloneMap(content["metadata"])
	metadata["labels"] = with(metadata["labels"], v1alpha1.LabelHub, hub)
	metadata["annotations"] = with(metadata["annotations"], v1alpha1.AnnotationLayer, w.Home.String())
	content["metadata"] = metadata
	return &unstructured.Unstructured{Object: content}
}

func with(m any, key, value string) map[string]any {
	clone := cloneMap(m)
	clone[key] = value
	return clone
}

// cloneMap copies one level; what is not a map becomes an empty one.
func cloneMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	clone := make(map[string]any, len(m)+1)
	maps.Copy(clone, m)
	return clone
}
