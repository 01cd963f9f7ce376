package member

import (
	"context"
	"errors"
	"maps"
	"slices"
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
	// declared are the objects that were listed for the first time in this pass, before they
	// were sent.
	declared entries
	// foundations says that a namespace or CRD was applied: others may no longer wait.
	foundations bool
	// sent and refused count what the member took and what it did not.
	sent, refused int
	// mended and adopted are sentences about objects that others had changed and that are as
	// wanted again, and about objects that were there before us, by the home of each.
	mended, adopted map[layer.Ref][]string
	// left and recreated are sentences about objects that were let go, and that are made anew.
	left, recreated map[layer.Ref][]string
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
	applied member.Applied
	// met is the object as the member first answered: who held it before us is still there.
	met *unstructured.Unstructured
	// left are the fields in which the member has something else than was sent all the same.
	left []object.Difference
	// recreating says that the object was deleted in order to be made anew.
	recreating bool
	err        error
}

// bring looks where a step wants to know more, and then applies what is to be applied.
func (e *executor) bring(ctx context.Context, steps []step, done *report) {
	e.examine(ctx, steps, done)
	e.apply(ctx, steps, done)
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
	content := marked(s.object, e.hub)
	applied, err := e.submit(ctx, s, content)
	met := applied.Live
	if err == nil && s.entry.Applied == "" && member.KeptClientSide(met) {
		if err = e.member.Migrate(ctx, met); err == nil {
			applied, err = e.submit(ctx, s, content)
		}
	}
	if err != nil {
		if uid := s.entry.UID; uid != "" && member.Classify(err).Reason == member.ReasonImmutable && s.keeping.mayRecreate(s.object) {
			err = e.member.Delete(ctx, s.object.ID, s.object.GVK.Version, uid)
			return outcome{recreating: err == nil, err: err}
		}
		return outcome{err: err}
	}
	return outcome{applied: applied, met: met, left: object.Differences(content.Object, applied.Live, v1alpha1.FieldManager)}
}

// submit applies by the conflict policy of the object's home.
func (e *executor) submit(ctx context.Context, s *step, content *unstructured.Unstructured) (member.Applied, error) {
	switch s.keeping.conflicts() {
	case v1alpha1.ConflictFail:
		return e.member.Propose(ctx, content)
	case v1alpha1.ConflictYield:
		return e.member.Yield(ctx, content)
	default:
		return e.member.Apply(ctx, content)
	}
}

// overruled are those of the fields that the member has otherwise which nobody else holds, as
// after a webhook that reverts them. Fields that it dropped, such as those of a disabled
// feature, are not among them. A CustomResourceDefinition is spelled anew by every server.
func overruled(id object.ID, left []object.Difference) []object.Difference {
	if object.Foundation(id) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(left), func(d object.Difference) bool {
		return d.Missing || d.Manager != ""
	})
}

// remedied narrows what was found of a drift down to what is no longer so, and says whether
// that is anything: the rest was yielded, or is overruled.
func (s *step) remedied(left []object.Difference) bool {
	if len(s.found) == 0 {
		return true
	}
	s.found = slices.DeleteFunc(s.found, func(d object.Difference) bool {
		return slices.ContainsFunc(left, func(l object.Difference) bool { return l.Path == d.Path })
	})
	return len(s.found) > 0
}

// settle turns the outcome of one request into an inventory entry or a problem.
func (e *executor) settle(s *step, out outcome, done *report) {
	id, home := s.object.ID, s.object.Home
	switch {
	case errors.Is(out.err, member.ErrNotOwner) || errors.Is(out.err, member.ErrPaused):
		done.lost = out.err
		return
	case out.err != nil:
		fault := member.Classify(out.err)
		e.pages.refuse(id, s.attempt(), problemOf(home, id, fault.Reason, fault.Message), terminal(fault), e.now)
		done.refused++
		done.retract(id, fault)
		s.verb, s.why = hold, "refused by the member"
		return
	case out.recreating:
		done.sent++
		s.entry.Applied, s.entry.Owned = "", ""
		done.entries[id] = s.entry
		s.verb, s.why = wait, "is being made anew"
		tell(&done.recreated, home, id.String())
		return
	}
	e.pages.accepted(id)
	done.sent++
	e.tellAdopted(s, out.met, done)
	if s.drifted && s.remedied(out.left) {
		drifts.WithLabelValues(outcomeMended).Inc()
		tell(&done.mended, home, id.String()+": "+s.change())
	}
	before := s.entry
	s.entry, s.seen, s.verb = entryOf(s, out.applied), out.applied.Observation, keep
	if fields := overruled(id, out.left); len(fields) > 0 {
		s.entry.Applied += overruledMark
		e.hold(s, overruledProblem(s, fields))
	}
	if s.missing && s.entry.UID == before.UID {
		// It was there all the time, out of our sight: somebody takes our label off it.
		s.why = "deprived of the label " + v1alpha1.LabelHub + " by others"
		e.contested(s, s.why)
	}
	done.entries[id] = s.entry
	done.foundations = done.foundations || object.Foundation(id)
}

// retract takes an object off the inventory that was listed to be made and was not, since that
// is forbidden: nobody could ever find out that it is not there.
func (r *report) retract(id object.ID, fault member.Failure) {
	if _, declared := r.declared[id]; declared && fault.Reason == member.ReasonForbidden {
		delete(r.entries, id)
	}
}

// entryOf is what the inventory knows of an object that was just applied.
func entryOf(s *step, applied member.Applied) v1alpha1.InventoryEntry {
	entry := v1alpha1.InventoryEntry{
		ID: s.object.ID.Key(), Version: s.object.GVK.Version, UID: applied.UID,
		Applied: s.applied, Owned: applied.Owned,
	}
	for _, yielded := range applied.Yielded {
		entry.Yielded = append(entry.Yielded, v1alpha1.YieldedField{Path: yielded.Path, Manager: yielded.Manager})
	}
	return entry
}

// tellAdopted tells of an object that was there before us: others hold fields of it in the
// very answer to our first apply.
func (e *executor) tellAdopted(s *step, live *unstructured.Unstructured, done *report) {
	if s.entry.Applied != "" || s.entry.UID != "" {
		return
	}
	if managers := others(live); managers != "" {
		tell(&done.adopted, s.object.Home, s.object.ID.String()+" ("+managers+")")
	}
}

func tell(all *map[layer.Ref][]string, home layer.Ref, sentence string) {
	if *all == nil {
		*all = map[layer.Ref][]string{}
	}
	(*all)[home] = append((*all)[home], sentence)
}

// remove deletes what no layer wants, in the plan's order. An entry goes from the
// inventory when its object is seen to be gone.
func (e *executor) remove(ctx context.Context, removals []removal, done *report) {
	for _, r := range removals {
		if done.stopped() {
			return
		}
		if r.verb != apply && r.verb != leave {
			continue
		}
		isGone, err := e.removeOne(ctx, r)
		switch {
		case errors.Is(err, member.ErrNotOwner) || errors.Is(err, member.ErrPaused):
			done.lost = err
		case err != nil:
			fault := member.Classify(err)
			e.pages.refuse(r.id, removing, problemOf(r.home, r.id, fault.Reason, fault.Message), terminal(fault), e.now)
			done.refused++
		case isGone:
			e.pages.accepted(r.id)
			delete(done.entries, r.id)
			done.cleared = true
			if r.verb == leave {
				tell(&done.left, r.home, r.id.String())
			}
		}
	}
}

// removeOne deletes the object or lets go of it, if it is the one that we made, and reports
// whether it is gone from us. It looks first: an object that another made, or that no longer
// carries our mark, is not ours to delete and leaves the inventory.
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
	case r.verb == leave:
		return true, e.member.Release(ctx, r.id, r.entry.Version, current.GetUID())
	case current.GetDeletionTimestamp() != nil:
		return false, nil
	}
	return false, e.member.Delete(ctx, r.id, r.entry.Version, current.GetUID())
}

// newReport starts from what the inventory lists.
func newReport(listed inventory) report {
	r := report{entries: entries{}, declared: entries{}}
	for id, held := range listed {
		r.entries[id] = held.entry
	}
	return r
}

// problemOf is a problem of an object, for which its home is answerable.
func problemOf(home layer.Ref, id object.ID, reason, detail string) object.Problem {
	return object.Problem{Severity: object.Error, Layer: home.String(), Object: id, Reason: reason, Detail: detail}
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
	object.EncodeStringData(content)
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
