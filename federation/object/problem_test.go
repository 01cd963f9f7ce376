package object

import "testing"

func TestProblemMessage(t *testing.T) {
	web := ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	for want, p := range map[string]Problem{
		"Deployment shop/web: layer fleet/web: spec.replicas: is odd": {Layer: "fleet/web", Object: web, Path: "spec.replicas", Detail: "is odd"},
		"Job without a name: layer base: manifests[3]: is odd":        {Layer: "base", Object: ID{Group: "batch", Kind: "Job", Namespace: "shop"}, Path: "manifests[3]", Detail: "is odd"},
		"layer base: is odd": {Layer: "base", Detail: "is odd"},
		"is odd":             {Detail: "is odd"},
	} {
		if got := p.Message(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPath(t *testing.T) {
	for _, c := range []struct{ got, want Path }{
		{Path("").Field("spec").Field("replicas"), "spec.replicas"},
		{Path("containers").Entry("web").Field("image"), "containers[web].image"},
		{Path("manifests").Index(3), "manifests[3]"},
		{Path("metadata.labels").Field("app.kubernetes.io/name"), "metadata.labels[app.kubernetes.io/name]"},
		{Path("data").Field(""), "data[]"},
		{Path("merge").Join("metadata.name"), "merge.metadata.name"},
		{Path("env").Join("[A]"), "env[A]"},
		{Path("").Join("a"), "a"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

func TestPathWithin(t *testing.T) {
	for _, c := range []struct {
		path, above Path
		want        bool
	}{
		{"a.b", "a", true},
		{"a[b]", "a", true},
		{"a", "a", true},
		{"a", "", true},
		{"ab", "a", false},
		{"a", "a.b", false},
		{"b.a", "a", false},
	} {
		if got := c.path.Within(c.above); got != c.want {
			t.Errorf("%s within %s: %v", c.path, c.above, got)
		}
	}
}
