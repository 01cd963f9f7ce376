package ownership

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/clusters/shard"
)

const bound = 18 * time.Second

// sight is what a replica sees.
type sight struct {
	holding shard.Holding
	seen    bool
	trouble error
}

func (s sight) Holding(types.NamespacedName) (shard.Holding, bool) { return s.holding, s.seen }
func (s sight) ShardOf(types.NamespacedName) int                   { return 7 }
func (s sight) Ready() error                                       { return s.trouble }

func TestWhoHasNoOwner(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	none := func(d time.Duration) shard.Holding { return shard.Holding{Shard: 7, Since: ago(d)} }
	for name, tc := range map[string]struct {
		sight   sight
		created time.Duration // ago
		left    time.Duration
		want    []string // nothing if it has an owner, or may yet get one
	}{
		"owned":             {sight: sight{holding: shard.Holding{Replica: "hub-1", Since: ago(time.Hour)}, seen: true}, created: time.Hour},
		"being taken over":  {sight: sight{holding: none(5 * time.Second), seen: true}, created: time.Hour, left: bound - 5*time.Second},
		"a new manager":     {created: time.Hour, left: bound - 2*time.Second},
		"for too long":      {sight: sight{holding: none(bound), seen: true}, created: time.Hour, want: []string{"shard 7", "18s", "hub-0", "look at the Leases"}},
		"and we know why":   {sight: sight{holding: none(bound), seen: true, trouble: errors.New("no rights")}, created: time.Hour, want: []string{"hub-0", "no rights"}},
		"a refused manager": {sight: sight{trouble: shard.ErrShardCount}, created: time.Hour, left: bound - 2*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{Replica: tc.sight, Bound: bound, Clock: clocktesting.NewFakePassiveClock(now), Began: ago(2 * time.Second)}
			member := &v1alpha1.MemberCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "eu-1", CreationTimestamp: metav1.NewTime(ago(tc.created))}}
			member.Status.Owner = &v1alpha1.MemberOwner{Replica: "hub-0"}
			missing, left := r.judge(member)
			if left != tc.left || (missing == "") != (tc.want == nil) {
				t.Fatalf("got %q and %s, want %s left", missing, left, tc.left)
			}
			for _, part := range tc.want {
				if !strings.Contains(missing, part) {
					t.Errorf("%q does not say %q", missing, part)
				}
			}
		})
	}
}
