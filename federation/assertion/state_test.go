package assertion_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/assertion"
	"github.com/syncline-dev/syncline/federation/expression"
)

// What people state about several members.
const (
	sameCertificate = `members.all(m, members.all(n, members[m].values.ca == members[n].values.ca))`
	noCommonCIDR    = `members.all(m, members.all(n, m == n || members[m].values.cidr != members[n].values.cidr))`
	twoPerRegion    = `members.all(m, members.exists(n, n != m && members[n].labels.region == members[m].labels.region))`
)

var midday = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// stated is an assertion over the values "ca" and "cidr" of all members.
func stated(expression string) *v1alpha1.StateAssertion {
	a := &v1alpha1.StateAssertion{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "it", UID: "uid-of-it", Generation: 2},
		Spec:       v1alpha1.StateAssertionSpec{Expression: expression},
	}
	for _, name := range []string{"ca", "cidr"} {
		a.Spec.Values = append(a.Spec.Values, v1alpha1.ObservedValue{
			Name: name, Observe: v1alpha1.ObservedObjects{Kind: "ConfigMap"}, Expression: "size(objects)",
		})
	}
	return a
}

// compileState compiles an assertion that has no fault.
func compileState(t testing.TB, a *v1alpha1.StateAssertion) *assertion.State {
	t.Helper()
	s, problems := assertion.CompileState(a)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

// seen is a member that was observed for the assertion ten seconds before midday.
func seen(name, region, ca, cidr string) *v1alpha1.MemberCluster {
	value := func(name, value string) v1alpha1.ValueObservation {
		return v1alpha1.ValueObservation{Name: name, Value: &apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%q", value)}}
	}
	return &v1alpha1.MemberCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: name, Labels: map[string]string{"region": region}},
		Status: v1alpha1.MemberClusterStatus{
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReachable, Status: metav1.ConditionTrue}},
			Observations: []v1alpha1.MemberObservation{{
				Assertion: "it", UID: "uid-of-it", Generation: 2, At: metav1.NewTime(midday.Add(-10 * time.Second)),
				Values: []v1alpha1.ValueObservation{value("ca", ca), value("cidr", cidr)},
			}},
		},
	}
}

// observation is what the member was observed to be.
func observation(m *v1alpha1.MemberCluster) *v1alpha1.MemberObservation {
	return &m.Status.Observations[0]
}

// ways are those in which a member is not known, and what is said of it.
var ways = map[string]struct {
	how   func(m *v1alpha1.MemberCluster)
	doubt string
}{
	"never observed": {func(m *v1alpha1.MemberCluster) { m.Status.Observations = nil }, "not observed yet"},
	"observed for an earlier generation": {
		func(m *v1alpha1.MemberCluster) { observation(m).Generation = 1 }, "not observed yet",
	},
	"observed for another of its name": {
		func(m *v1alpha1.MemberCluster) { observation(m).UID = "other" }, "not observed yet",
	},
	"observed long ago": {
		func(m *v1alpha1.MemberCluster) { observation(m).At = metav1.NewTime(midday.Add(-5 * time.Minute)) },
		"last observed more than 5m0s ago",
	},
	"observed in the future": {
		func(m *v1alpha1.MemberCluster) { observation(m).At = metav1.NewTime(midday.Add(time.Minute)) },
		"observed in the future: the clocks of the managers differ",
	},
	"without one of the values": {
		func(m *v1alpha1.MemberCluster) { observation(m).Values = observation(m).Values[:1] },
		"value cidr: not observed yet",
	},
	"of which a value could not be observed": {
		func(m *v1alpha1.MemberCluster) {
			observation(m).Values[0] = v1alpha1.ValueObservation{Name: "ca", Error: "no rights"}
		}, "value ca: no rights",
	},
	"that cannot be reached": {
		func(m *v1alpha1.MemberCluster) { m.Status.Conditions[0].Status = metav1.ConditionUnknown }, "it cannot be reached",
	},
	"that nobody owns": {
		func(m *v1alpha1.MemberCluster) {
			m.Status.Conditions = append(m.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionOwnerless})
		}, "no replica owns it",
	},
	"that is observed for others": {
		func(m *v1alpha1.MemberCluster) {
			m.Status.Observations = make([]v1alpha1.MemberObservation, v1alpha1.MaxObservations)
		}, "it is observed for 32 other assertions, which is the limit",
	},
}

func TestStatements(t *testing.T) {
	for name, c := range map[string]struct {
		expression string
		members    []*v1alpha1.MemberCluster
		answer     expression.Answer
	}{
		"one certificate everywhere": {sameCertificate, []*v1alpha1.MemberCluster{
			seen("a", "", "x", ""), seen("b", "", "x", ""), seen("c", "", "x", ""),
		}, expression.True},
		"a certificate that differs": {sameCertificate, []*v1alpha1.MemberCluster{
			seen("a", "", "x", ""), seen("b", "", "x", ""), seen("c", "", "y", ""),
		}, expression.False},
		"a CIDR of each member's own": {noCommonCIDR, []*v1alpha1.MemberCluster{
			seen("a", "", "", "10.1.0.0/16"), seen("b", "", "", "10.2.0.0/16"), seen("c", "", "", "10.3.0.0/16"),
		}, expression.True},
		"two members with one CIDR": {noCommonCIDR, []*v1alpha1.MemberCluster{
			seen("a", "", "", "10.1.0.0/16"), seen("b", "", "", "10.2.0.0/16"), seen("c", "", "", "10.1.0.0/16"),
		}, expression.False},
		"two members in each region": {twoPerRegion, []*v1alpha1.MemberCluster{
			seen("a", "eu", "", ""), seen("b", "us", "", ""), seen("c", "eu", "", ""), seen("d", "us", "", ""),
		}, expression.True},
		"a member alone in its region": {twoPerRegion, []*v1alpha1.MemberCluster{
			seen("a", "eu", "", ""), seen("b", "us", "", ""), seen("c", "eu", "", ""),
		}, expression.False},
		"something about nobody": {sameCertificate, nil, expression.Unknown},
		"a member that there is not": {`members["z"].values.ca == "x"`, []*v1alpha1.MemberCluster{
			seen("a", "", "x", ""),
		}, expression.False},
		"an age": {`members.all(m, members[m].age < duration("11s") && members[m].age > duration("9s"))`, []*v1alpha1.MemberCluster{
			seen("a", "", "", ""),
		}, expression.True},
	} {
		t.Run(name, func(t *testing.T) {
			s := compileState(t, stated(c.expression))
			v := s.Judge(c.members, midday)
			if v.Answer != c.answer {
				t.Errorf("it is %s, %q; want %s", v.Answer, v.Message, c.answer)
			}
			slices.Reverse(c.members)
			if again := s.Judge(c.members, midday); again != v {
				t.Errorf("in the other order it is %+v, and not %+v", again, v)
			}
		})
	}
}

// TestMemberThatIsNotKnown: it makes nothing true, and nothing false that the others do not.
func TestMemberThatIsNotKnown(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			for expr, want := range map[string]expression.Answer{
				sameCertificate:                                            expression.False, // As "a" and "b" show.
				`size(members) > 9`:                                        expression.False,
				`members.all(m, members[m].observed)`:                      expression.False,
				`size(members) == 3`:                                       expression.Unknown,
				noCommonCIDR:                                               expression.Unknown,
				`members["c"].values != members["a"].values`:               expression.Unknown,
				`members["c"].values == members["a"].values`:               expression.Unknown,
				`has(members["c"].values.cidr)`:                            expression.Unknown,
				`"ca" in members["c"].values`:                              expression.Unknown,
				`members["c"].age < duration("1s")`:                        expression.Unknown,
				`size(members.filter(m, members[m].values.ca == "x")) > 1`: expression.Unknown,
				`members.exists_one(m, members[m].values.ca == "y")`:       expression.Unknown,
				`members.map(m, members[m].values.ca) == ["x"]`:            expression.Unknown,
				`!(members.map(m, members[m].values) == [])`:               expression.Unknown,
			} {
				away := seen("c", "eu", "x", "10.3.0.0/16")
				way.how(away)
				s := compileState(t, stated(expr))
				v := s.Judge([]*v1alpha1.MemberCluster{
					seen("a", "eu", "x", "10.1.0.0/16"), seen("b", "us", "y", "10.2.0.0/16"), away,
				}, midday)
				if v.Answer != want {
					t.Errorf("%s is %s, %q; want %s", expr, v.Answer, v.Message, want)
				}
				if v.Observed != 2 || v.Members != 3 {
					t.Errorf("%d of %d members are known; want 2 of 3", v.Observed, v.Members)
				}
				if said := "c: " + way.doubt; want == expression.Unknown && v.Message != said {
					t.Errorf("%s: says %q; want %q", expr, v.Message, said)
				}
			}
		})
	}
}

// TestWhatIsHiddenDecidesNothing: a verdict that is not Unknown is also that of the same members
// with whatever values those have that are hidden.
func TestWhatIsHiddenDecidesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	member := func(i int) *v1alpha1.MemberCluster {
		return seen(fmt.Sprint("m", i), []string{"eu", "us"}[i%2], []string{"x", "y"}[random.IntN(2)], fmt.Sprintf("10.%d.0.0/16", random.IntN(3)))
	}
	said := map[expression.Answer]int{}
	for _, expr := range []string{
		sameCertificate, noCommonCIDR, twoPerRegion, "!" + sameCertificate, "!" + noCommonCIDR,
		`members.exists(m, members[m].values.ca == "x") || members.exists(m, members[m].values.cidr == "10.0.0.0/16")`,
		`members.exists_one(m, members[m].values.ca == "x")`,
		`size(members.filter(m, members[m].values.ca == "x")) >= 2`,
		`members.all(m, members.all(n, m == n || members[m].values != members[n].values))`,
		`members.all(m, members[m].labels.region != "eu" || members[m].values.ca == "x")`,
		`"x" in members.map(m, members[m].values.ca)`,
	} {
		s := compileState(t, stated(expr))
		for range 200 {
			known, whole := []*v1alpha1.MemberCluster{}, [][]*v1alpha1.MemberCluster{{}, {}, {}, {}}
			for i := range 1 + random.IntN(4) {
				shown, hidden := member(i), random.IntN(3) == 0
				for w := range whole {
					completed := shown
					if hidden {
						completed = member(i)
					}
					whole[w] = append(whole[w], completed)
				}
				if hidden {
					shown = shown.DeepCopy()
					shown.Status.Observations = nil
				}
				known = append(known, shown)
			}
			v := s.Judge(known, midday)
			said[v.Answer]++
			for _, w := range whole {
				if truth := s.Judge(w, midday); v.Answer != expression.Unknown && truth.Answer != v.Answer {
					t.Fatalf("%s is %s with hidden members, and %s of %s", expr, v.Answer, truth.Answer, toJSON(t, w))
				}
			}
		}
	}
	t.Log(said)
	for _, answer := range []expression.Answer{expression.True, expression.False, expression.Unknown} {
		if said[answer] < 100 {
			t.Errorf("the test has hardly seen the answer %s: %v", answer, said)
		}
	}
}

func toJSON(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestVerdictExpiresWithItsOldestObservation(t *testing.T) {
	s := compileState(t, stated(sameCertificate))
	older, gone := seen("a", "", "x", ""), seen("c", "", "x", "")
	observation(older).At = metav1.NewTime(midday.Add(-time.Minute))
	observation(gone).At = metav1.NewTime(midday.Add(-time.Hour))
	members := []*v1alpha1.MemberCluster{seen("b", "", "x", ""), older, gone}
	if got, want := s.Judge(members, midday).Expires, midday.Add(4*time.Minute); !got.Equal(want) {
		t.Errorf("expires at %s, want %s", got, want)
	}
	if got := s.Judge(members[2:], midday).Expires; !got.IsZero() {
		t.Errorf("expires at %s, and no observation counts", got)
	}
}

func TestWhoIsMeant(t *testing.T) {
	a := stated(sameCertificate)
	a.Spec.ClusterSelector.MatchLabels = map[string]string{"region": "eu"}
	s := compileState(t, a)
	elsewhere, leaving := seen("a", "eu", "", ""), seen("a", "eu", "", "")
	elsewhere.Namespace, leaving.DeletionTimestamp = "other", &metav1.Time{Time: midday}
	for member, want := range map[*v1alpha1.MemberCluster]bool{
		seen("a", "eu", "", ""): true, seen("a", "us", "", ""): false, elsewhere: false, leaving: false,
	} {
		if s.Selects(member) != want {
			t.Errorf("%+v: selected is %t", member.ObjectMeta, !want)
		}
	}
}

func TestAuthorsMessage(t *testing.T) {
	a := stated(sameCertificate)
	a.Spec.Message = `"differs on " + members.filter(m, members[m].values.ca != members["a"].values.ca).join(", ")`
	members := []*v1alpha1.MemberCluster{seen("a", "", "x", ""), seen("b", "", "y", ""), seen("c", "", "z", "")}
	s := compileState(t, a)
	if got := s.Judge(members, midday).Message; got != "differs on b, c" {
		t.Errorf("says %q", got)
	}
	members[2].Status.Observations = nil
	if got := s.Judge(members, midday).Message; got != "the expression is false" {
		t.Errorf("says %q, and the message's value is not known", got)
	}
}

func TestMessagesNameFewMembers(t *testing.T) {
	var members []*v1alpha1.MemberCluster
	for i := range 5 {
		m := seen(fmt.Sprint("m", i), "", "", "")
		m.Status.Observations = nil
		members = append(members, m)
	}
	got := compileState(t, stated(sameCertificate)).Judge(members, midday).Message
	if want := "m0: not observed yet; m1: not observed yet; m2: not observed yet; and 2 more"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

// TestWhatCannotBeRead: each fault is told with its field, and the place in it.
func TestWhatCannotBeRead(t *testing.T) {
	a := stated("members.all(m, ")
	a.Spec.Message = "1"
	a.Spec.Values[0].Expression = "objects[0].data.ca +"
	a.Spec.Values[1].Expression = "objekts"
	a.Spec.Values[1].Observe.LabelSelector = "a in"
	a.Spec.ClusterSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}
	s, problems := assertion.CompileState(a)
	if s != nil {
		t.Error("it can be judged")
	}
	wants := []struct{ path, part string }{
		{"spec.clusterSelector", "Near"},
		{"spec.values[0].expression", "column 21"},
		{"spec.values[1].observe.labelSelector", "kubectl"},
		{"spec.values[1].expression", "objekts"},
		{"spec.expression", "column 16"},
		{"spec.message", "must be a string"},
	}
	if len(problems) != len(wants) {
		t.Fatalf("problems: %v", problems)
	}
	for i, want := range wants {
		if problems[i].Path != want.path || !strings.Contains(problems[i].Message(), want.part) {
			t.Errorf("problem %d at %s: %s; want %s: %s", i, problems[i].Path, problems[i].Message(), want.path, want.part)
		}
	}
}

func TestCacheTellsGenerationsApart(t *testing.T) {
	cache := assertion.NewCache(8)
	a := stated(sameCertificate)
	first, _ := cache.State(a)
	if again, _ := cache.State(a); again != first {
		t.Error("compiled twice")
	}
	a = a.DeepCopy()
	a.Generation++
	a.Spec.Expression = "members.all("
	if s, problems := cache.State(a); s != nil || len(problems) != 1 {
		t.Errorf("the next generation is %v, %v", s, problems)
	}
}
