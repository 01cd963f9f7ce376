package source

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// contentOf is content of about the given size; noise hardly compresses.
func contentOf(size int, noise bool) Content {
	text := strings.Repeat("a", size)
	if noise {
		raw := make([]byte, size*3/4)
		r := rand.NewChaCha8([32]byte{})
		_, _ = r.Read(raw)
		text = base64.StdEncoding.EncodeToString(raw)
	}
	return Content{
		Order: 3, Enforce: true, Template: v1alpha1.TemplateCEL,
		Manifests: []json.RawMessage{json.RawMessage(fmt.Sprintf(`{"kind":"ConfigMap","n":9007199254740993,"data":%q}`, text))},
		Patches: []v1alpha1.Patch{{
			Target: v1alpha1.Target{Kind: "Service"},
			Merge:  &runtime.RawExtension{Raw: []byte(`{"a":null}`)},
		}},
	}
}

func TestEncodeDecode(t *testing.T) {
	for name, c := range map[string]struct {
		content  Content
		readable bool
	}{
		"small stays readable": {contentOf(100, false), true},
		"large is compressed":  {contentOf(500<<10, false), false},
		"noise is compressed":  {contentOf(700<<10, true), false},
		"nothing":              {Content{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := Encode(c.content)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(raw), `"order"`); got != c.readable {
				t.Errorf("readable is %v, want %v", got, c.readable)
			}
			again, err := Encode(c.content)
			if err != nil || string(again) != string(raw) {
				t.Error("encoded twice it differs")
			}
			got, err := Decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(c.content, got) {
				t.Error("decoded it differs")
			}
		})
	}
}

func TestEncodeTooLarge(t *testing.T) {
	_, err := Encode(contentOf(2<<20, true))
	var tooLarge *TooLargeError
	if !errors.As(err, &tooLarge) {
		t.Fatalf("got %v", err)
	}
	if tooLarge.Limit != MaxSize || tooLarge.Size <= MaxSize || !strings.Contains(err.Error(), "split the layer") {
		t.Errorf("%v", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, raw := range []string{``, `[]`, `{"encoding":"zstd","content":""}`, `{"encoding":"gzip","content":"aGk="}`} {
		if c, err := Decode(json.RawMessage(raw)); err == nil {
			t.Errorf("%s decodes to %v", raw, c)
		}
	}
}

// TestSecretManifestsAreKeptApart: they decide the name, and are in no encoded form.
func TestSecretManifestsAreKeptApart(t *testing.T) {
	public := contentOf(10, false)
	private := public.With([]json.RawMessage{json.RawMessage(`{"kind":"Secret","stringData":{"a":"hunter2"}}`)})
	raw, err := Encode(private)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "hunter2") {
		t.Errorf("the encoded content has what came from a Secret: %s", raw)
	}
	if nameOf(t, "base", public) == nameOf(t, "base", private) {
		t.Error("the name does not tell what came from a Secret")
	}
}

func TestName(t *testing.T) {
	long := strings.Repeat("a", 253)
	names := map[string]string{}
	for _, layer := range []string{"base", "fleet/base", "flee/tbase", "other/base", "a/b", "a-b", long, long[:252] + "b", "x/" + long, strings.Repeat("a.", 126) + "a"} {
		for i, c := range []Content{contentOf(1, false), contentOf(2, false)} {
			name := nameOf(t, layer, c)
			if again := nameOf(t, layer, c); again != name {
				t.Errorf("%s is %s and %s", layer, name, again)
			}
			if faults := validation.IsDNS1123Subdomain(name); len(faults) > 0 {
				t.Errorf("%s: %v", name, faults)
			}
			if other, taken := names[name]; taken {
				t.Errorf("%s and %s/%d share %s", other, layer, i, name)
			}
			names[name] = fmt.Sprintf("%s/%d", layer, i)
		}
	}
	if name := nameOf(t, "fleet/web", Content{}); !strings.HasPrefix(name, "web-") || len(name) != len("web-")+hashLength {
		t.Errorf("name %s", name)
	}
}

func nameOf(t *testing.T, layer string, c Content) string {
	t.Helper()
	name, err := Name(layer, c)
	if err != nil {
		t.Fatal(err)
	}
	return name
}
