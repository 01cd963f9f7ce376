package member

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/convergence"
	"github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/stack"
)

// bindings are all bindings of the member: of the layers on it and of those that leave.
func (s *snapshot) bindings() []*v1alpha1.LayerBinding {
	var all []*v1alpha1.LayerBinding
	for _, d := range s.leaving {
		all = append(all, d.binding)
	}
	for _, p := range s.placed {
		all = append(all, p.Binding)
	}
	return all
}

// bind makes the bindings that are missing.
func (r *Reconciler) bind(ctx context.Context, snap *snapshot) error {
	for i := range snap.placed {
		p := &snap.placed[i]
		var known *v1alpha1.LayerBindingStatus
		if p.Binding != nil && !p.Binding.DeletionTimestamp.IsZero() {
			// Somebody deleted the binding of a layer that stays: what it lists is kept.
			known = &p.Binding.Status
			if _, err := r.letGo(ctx, snap, p.Binding); err != nil {
				return err
			}
			p.Binding = nil
		}
		if p.Binding != nil {
			continue
		}
		binding, err := r.newBinding(ctx, snap, p.Layer, known)
		if err != nil {
			return err
		}
		p.Binding = binding
	}
	return nil
}

func (r *Reconciler) newBinding(ctx context.Context, snap *snapshot, of v1alpha1.Layered, known *v1alpha1.LayerBindingStatus) (*v1alpha1.LayerBinding, error) {
	ref := hub.ReferenceTo(of)
	binding := &v1alpha1.LayerBinding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: snap.key.Namespace, Name: bindingName(ref, snap.key.Name),
			Labels: map[string]string{
				v1alpha1.LabelLayer:  hub.ReferenceID(ref),
				v1alpha1.LabelMember: labelValue(snap.key.Name),
			},
			Finalizers: []string{v1alpha1.Finalizer},
		},
		Spec: v1alpha1.LayerBindingSpec{Layer: ref, Member: snap.key.Name},
	}
	if err := controllerutil.SetControllerReference(snap.member, binding, r.Client.Scheme()); err != nil {
		return nil, fmt.Errorf("own binding %s: %w", binding.Name, err)
	}
	if err := r.Client.Create(ctx, binding); err != nil {
		return nil, fmt.Errorf("make binding %s: %w", binding.Name, err)
	}
	r.ledger.of(snap.key).written[binding.Name] = binding
	if known == nil {
		return binding, nil
	}
	return r.writeBinding(ctx, snap, binding, func(status *v1alpha1.LayerBindingStatus) error {
		status.Inventory, status.InventoryData, status.MemberUID = known.Inventory, known.InventoryData, known.MemberUID
		status.Revision, status.GoodRevision, status.Wait, status.Phase = known.Revision, known.GoodRevision, known.Wait, known.Phase
		return nil
	})
}

// bindingName is <member>-<layer>-<hash>. The hash is over both names whole, so that no two
// pairs share a name, however the names are cut.
func bindingName(ref v1alpha1.LayerReference, member string) string {
	const longest = 253 - 1 - 10
	sum := sha256.Sum256([]byte(member + "/" + ref.Kind + "/" + ref.Name))
	name := member + "-" + ref.Name
	if len(name) > longest {
		name = strings.TrimRight(name[:longest], "-.")
	}
	return name + "-" + hex.EncodeToString(sum[:])[:10]
}

// labelValue is a name as a label can hold it: longer ones end in a hash.
func labelValue(name string) string {
	const longest = 63
	if len(name) <= longest {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:longest-11], "-.") + "-" + hex.EncodeToString(sum[:])[:10]
}

// declare lists the objects that the pass will create in the inventory before they exist:
// whatever stops the hub in between, their bindings answer for them.
func (r *Reconciler) declare(ctx context.Context, p *pass) error {
	for i := range p.placed {
		placed := &p.placed[i]
		missing := p.undeclared(placed)
		if len(missing) == 0 {
			continue
		}
		written, err := r.writeBinding(ctx, p.snapshot, placed.Binding, func(status *v1alpha1.LayerBindingStatus) error {
			all := maps.Clone(missing)
			for id, held := range p.before.join([]*v1alpha1.LayerBinding{placed.Binding}, p.connection.reach.UID) {
				all[id] = held.entry
			}
			status.MemberUID = p.connection.reach.UID
			p.withdraw(status, placed)
			return all.writeTo(status)
		})
		if err != nil {
			return err
		}
		placed.Binding = written
		maps.Copy(p.report.entries, missing)
		maps.Copy(p.report.declared, missing)
	}
	return nil
}

// withdraw takes back what a binding says of a state that the pass is about to leave: a word that
// is written anew, and under a later epoch, has to be so.
func (p *pass) withdraw(status *v1alpha1.LayerBindingStatus, placed *stack.Placed) {
	if status.State != v1alpha1.StateConverged {
		return
	}
	verdict := convergence.Judge(p.observe(placed))
	*status = convergence.Record(*status, verdict, convergence.Unwaited(*status, verdict), placed.Binding.Generation, metav1.NewTime(p.now))
}

// undeclared are the objects of a layer that the pass will create and that no inventory
// lists.
func (p *pass) undeclared(placed *stack.Placed) entries {
	missing := entries{}
	for _, s := range p.plan.steps {
		creates := s.verb == apply || s.verb == wait
		if id := s.object.ID; creates && s.entry.ID == "" && s.object.Home == placed.Ref() {
			missing[id] = v1alpha1.InventoryEntry{ID: id.Key(), Version: s.object.GVK.Version}
		}
	}
	return missing
}

// writeBinding changes a binding's status and remembers what the hub answered.
func (r *Reconciler) writeBinding(ctx context.Context, snap *snapshot, binding *v1alpha1.LayerBinding, change func(*v1alpha1.LayerBindingStatus) error) (*v1alpha1.LayerBinding, error) {
	if err := r.mayStillWrite(snap); err != nil {
		return nil, err
	}
	after := binding.DeepCopy()
	after.Status.Epoch = int64(snap.owner.Epoch)
	if err := change(&after.Status); err != nil {
		return nil, fmt.Errorf("status of binding %s: %w", binding.Name, err)
	}
	wrote, err := hub.PatchStatus(ctx, r.Client, binding, after)
	if err != nil {
		return nil, err
	}
	if wrote {
		r.ledger.of(snap.key).written[binding.Name] = after
	}
	return after, nil
}
