package member

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/layer"
)

// tellAll tells people, once and on the bindings that they look at, what a pass did that
// they would not expect.
func (r *Reconciler) tellAll(p *pass) {
	bindings := map[layer.Ref]*v1alpha1.LayerBinding{}
	for _, binding := range p.bindings() {
		bindings[refOf(binding)] = binding
	}
	for ref, binding := range bindings {
		tellOf(r.Events, binding, "DriftMended", "Apply", p.report.mended[ref],
			"%d changed or deleted by others on "+p.key.String()+" and put back: %s")
		tellOf(r.Events, binding, "Adopted", "Apply", p.report.adopted[ref],
			"%d were on "+p.key.String()+" before and are kept from now on: %s")
		tellOf(r.Events, binding, "Recreated", "Delete", p.report.recreated[ref],
			"%d deleted on "+p.key.String()+" to be made anew, since a field cannot be changed: %s")
		tellOf(r.Events, binding, "LeftBehind", "Release", p.report.left[ref],
			"%d stay on "+p.key.String()+" and are no longer kept: %s")
	}
}

// tellOf makes one event of any number of sentences.
func tellOf(recorder events.EventRecorder, binding *v1alpha1.LayerBinding, reason, action string, sentences []string, format string) {
	const most = 5
	count := len(sentences)
	if count == 0 {
		return
	}
	note := fmt.Sprintf(format, count, strings.Join(sentences[:min(count, most)], "; "))
	recorder.Eventf(binding, nil, corev1.EventTypeNormal, reason, action, "%s", note)
}
