package convergence

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/object"
)

var (
	t0 = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	t1 = metav1.NewTime(t0.Add(time.Minute))
)

func id(name string) object.ID {
	return object.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}
}

// done is an object that counts.
func done(name string) Object {
	return Object{ID: id(name), Applied: true, Seen: true, Health: object.Health{Status: object.Current}}
}

// but is a done object with a difference.
func but(name string, change func(*Object)) Object {
	o := done(name)
	change(&o)
	return o
}

func refusal(name string) *object.Problem {
	return &object.Problem{Severity: object.Error, Layer: "fleet/web", Object: id(name), Reason: "Refused", Detail: "the server says no"}
}

func TestJudge(t *testing.T) {
	warning := object.Problem{Severity: object.Warning, Layer: "fleet/web", Reason: "Odd", Detail: "is odd"}
	rolling := but("b", func(o *Object) {
		o.Health = object.Health{Status: object.InProgress, Message: "2 of 3 replicas updated"}
	})
	failed := but("c", func(o *Object) { o.Health = object.Health{Status: object.Failed, Message: "gave up"} })
	unwritten := but("d", func(o *Object) { o.Applied = false })
	refused := but("e", func(o *Object) { o.Applied, o.Problem = false, refusal("e") })
	for name, c := range map[string]struct {
		observation Observation
		want        string
	}{
		"nothing to keep":           {Observation{Reachable: true}, "Converged 0/0"},
		"all done":                  {Observation{Reachable: true, Objects: []Object{done("a"), done("b")}}, "Converged 2/2"},
		"rolling":                   {Observation{Reachable: true, Objects: []Object{done("a"), rolling}}, "Progressing 1/2: Deployment shop/b: 2 of 3 replicas updated"},
		"failed is worse":           {Observation{Reachable: true, Objects: []Object{rolling, failed, unwritten}}, "Degraded 0/3: Deployment shop/c: gave up"},
		"unwritten":                 {Observation{Reachable: true, Objects: []Object{done("a"), unwritten}}, "Progressing 1/2: Deployment shop/d: is to be applied"},
		"unwritten and paused":      {Observation{Reachable: true, Paused: true, Objects: []Object{rolling, unwritten}}, "Paused 0/2: Deployment shop/d: is not written: writing is paused"},
		"paused with nothing to do": {Observation{Reachable: true, Paused: true, Objects: []Object{done("a")}}, "Converged 1/1"},
		"refused":                   {Observation{Reachable: true, Objects: []Object{refused}}, "Degraded 0/1: Deployment shop/e: layer fleet/web: the server says no"},
		"a problem elsewhere":       {Observation{Reachable: true, Objects: []Object{done("a")}, Problems: []object.Problem{*refusal("z")}}, "Degraded 1/1: Deployment shop/z: layer fleet/web: the server says no"},
		"a warning holds nothing":   {Observation{Reachable: true, Objects: []Object{done("a")}, Problems: []object.Problem{warning}}, "Converged 1/1: layer fleet/web: is odd"},
		"drifted":                   {Observation{Reachable: true, Objects: []Object{but("a", func(o *Object) { o.Drifted = true })}}, "Progressing 0/1: Deployment shop/a: was changed by others and is to be mended"},
		"not seen since":            {Observation{Reachable: true, Objects: []Object{but("a", func(o *Object) { o.Seen = false })}}, "Progressing 0/1: Deployment shop/a: was applied and has not been seen since"},
		"being deleted":             {Observation{Reachable: true, Objects: []Object{but("a", func(o *Object) { o.Health = object.Health{Status: object.Terminating} })}}, "Progressing 0/1: Deployment shop/a: is in progress"},
		"out of sight":              {Observation{LastSeen: t0, Objects: []Object{done("a")}}, "Unknown 0/1: the member was last seen at 2026-01-02T03:04:05Z"},
		"never seen":                {Observation{Objects: []Object{failed}}, "Unknown 0/1: the member has not been seen yet"},
	} {
		if got := Judge(c.observation).String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestNothingStaleIsGreen: of all combinations of what is known of one object, one converges.
func TestNothingStaleIsGreen(t *testing.T) {
	green := 0
	for bits := range 1 << 7 {
		is := func(bit int) bool { return bits>>bit&1 == 1 }
		o := Object{ID: id("a"), Applied: is(0), Seen: is(1), Drifted: is(2)}
		if is(3) {
			o.Health.Status = object.Current
		}
		if is(4) {
			o.Problem = refusal("a")
		}
		v := Judge(Observation{Reachable: is(5), Paused: is(6), Objects: []Object{o}})
		if v.State == v1alpha1.StateConverged {
			green++
			if !is(0) || !is(1) || is(2) || !is(3) || is(4) || !is(5) {
				t.Errorf("%07b converges", bits)
			}
		}
		if (v.Healthy == 1) != (v.State == v1alpha1.StateConverged) {
			t.Errorf("%07b: %s", bits, v)
		}
		if v.State != v1alpha1.StateConverged && v.Message == "" {
			t.Errorf("%07b: %s without a word", bits, v.State)
		}
	}
	if green != 2 { // Paused or not.
		t.Errorf("%d combinations converge", green)
	}
}

// TestJudgeIsBounded: many and long problems make a small status (F19), and the order in
// which they arrive does not matter.
func TestJudgeIsBounded(t *testing.T) {
	var o Observation
	o.Reachable = true
	for i := range 200 {
		name := fmt.Sprintf("web-%03d", i)
		p := refusal(name)
		p.Detail = strings.Repeat("ß", 2000)
		p.Path = strings.Repeat("x", 2000)
		o.Objects = append(o.Objects, but(name, func(o *Object) { o.Problem = p }))
		o.Problems = append(o.Problems, *p)
	}
	want := Judge(o)
	if len(want.Problems) != MaxProblems || len(want.Message) > 1024 {
		t.Errorf("%d problems, message of %d", len(want.Problems), len(want.Message))
	}
	for _, p := range want.Problems {
		if len(p.Message) > 1024 || len(p.Path) > 512 || !strings.HasSuffix(p.Message, "…") {
			t.Errorf("message of %d, path of %d", len(p.Message), len(p.Path))
		}
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(o.Objects), reflect.Swapper(o.Objects))
		r.Shuffle(len(o.Problems), reflect.Swapper(o.Problems))
		if got := Judge(o); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %s", seed, got)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short", "short"}, {"exactly10!", "exactly10!"}, {"a bit longer", "a bit l…"}, {"äöüäöüäöü", "äöü…"},
	} {
		if got := Shorten(c.text, 10); got != c.want || len(got) > 10 {
			t.Errorf("%s: %s", c.text, got)
		}
	}
}
