package member

import (
	"strconv"
	"testing"
	"testing/quick"

	"k8s.io/apimachinery/pkg/types"
)

// sight is an object as a watch delivers it, or as it is known.
func sight(version string, uid types.UID, generation int64) Observation {
	return Observation{ID: idOf("a"), UID: uid, ResourceVersion: version, Generation: generation}
}

func TestContinuity(t *testing.T) {
	event := func(o Observation) func(*continuity, Observation, bool) rule {
		return func(c *continuity, known Observation, is bool) rule { return c.event(o, known, is) }
	}
	deletion := func(o Observation) func(*continuity, Observation, bool) rule {
		return func(c *continuity, known Observation, is bool) rule { return c.deletion(o, known, is) }
	}
	bookmark := func(version string) func(*continuity, Observation, bool) rule {
		return func(c *continuity, _ Observation, _ bool) rule { return c.bookmark(version) }
	}
	known := func(o Observation) *Observation { return &o }
	// The watch has delivered everything up to 100.
	for name, test := range map[string]struct {
		known   *Observation
		deliver func(*continuity, Observation, bool) rule
		broken  rule
	}{
		"a new object":                         {nil, event(sight("101", "u", 1)), ""},
		"a change":                             {known(sight("90", "u", 1)), event(sight("101", "u", 2)), ""},
		"a change older than our own":          {known(sight("105", "u", 3)), event(sight("101", "u", 2)), ""},
		"a change older than the last":         {known(sight("90", "u", 1)), event(sight("99", "u", 2)), ruleEventOrder},
		"a generation that goes back":          {known(sight("90", "u", 3)), event(sight("101", "u", 2)), ruleGenerationOrder},
		"another object without a deletion":    {known(sight("90", "u", 1)), event(sight("101", "v", 1)), ruleIdentity},
		"another object, older than our own":   {known(sight("105", "v", 1)), event(sight("101", "u", 1)), ""},
		"a deletion":                           {known(sight("90", "u", 1)), deletion(sight("101", "u", 1)), ""},
		"a deletion of what we do not know":    {nil, deletion(sight("101", "u", 1)), ""},
		"a deletion older than its object":     {known(sight("100", "u", 1)), deletion(sight("99", "u", 1)), ruleDeletionOrder},
		"a deletion of another object":         {known(sight("90", "u", 1)), deletion(sight("101", "v", 1)), ruleIdentity},
		"a deletion before we made it anew":    {known(sight("105", "v", 1)), deletion(sight("101", "u", 1)), ""},
		"a bookmark":                           {nil, bookmark("100"), ""},
		"a bookmark older than what came":      {nil, bookmark("99"), ruleBookmarkOrder},
		"versions that are no numbers pass":    {known(sight("abc", "u", 1)), event(sight("abb", "u", 1)), ""},
		"a bookmark of such versions":          {nil, bookmark("abb"), ""},
		"the same version twice, as on resume": {known(sight("100", "u", 1)), event(sight("100", "u", 1)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var c continuity
			c.listed("100")
			var before Observation
			if test.known != nil {
				before = *test.known
			}
			if got := test.deliver(&c, before, test.known != nil); got != test.broken {
				t.Errorf("got %q, want %q", got, test.broken)
			}
			if test.broken != "" && c.revision != "100" {
				t.Errorf("what broke a rule moved the revision to %s", c.revision)
			}
		})
	}
}

// What a server delivers that only counts up breaks no rule, whenever the watch is cut,
// resumed or listed anew and whatever of our own writes is known before it is delivered.
func TestAnHonestServerBreaksNoRule(t *testing.T) {
	honest := func(acts []uint8) bool {
		s := newStore()
		s.replaced(configMaps, nil, "1")
		world := Observation{} // the object on the server; none while its UID is empty
		version := 1
		for _, act := range acts {
			version++
			at := strconv.Itoa(version)
			var broken rule
			wentBack := false
			switch gone := world.UID == ""; {
			case act%6 == 0 && !gone:
				world.ResourceVersion = at
				_, broken = s.removed(world)
				world = Observation{}
			case act%6 == 1:
				broken = s.bookmarked(configMaps, at)
			case act%6 == 2 && gone:
				_, wentBack = s.replaced(configMaps, nil, at)
			case act%6 == 2:
				_, wentBack = s.replaced(configMaps, []Observation{world}, at)
			default:
				if gone {
					world = sight("", types.UID("uid-"+at), 0)
				}
				world.ResourceVersion = at
				world.Generation++
				if act%6 == 3 { // by us: the answer comes before the event
					s.record(world)
				}
				_, broken = s.seen(world)
			}
			known, found := s.get(idOf("a"))
			if broken != "" || wentBack || found != (world.UID != "") || known != world {
				t.Logf("at %s: %q, went back %v, known %+v, is %+v", at, broken, wentBack, known, world)
				return false
			}
		}
		return true
	}
	if err := quick.Check(honest, nil); err != nil {
		t.Error(err)
	}
}
