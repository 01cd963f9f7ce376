package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/source"
	hubobjects "github.com/syncline-dev/syncline/reconcilers/hub"
	"github.com/syncline-dev/syncline/reconcilers/revision"
)

var update = flag.Bool("update", false, "rewrite what the commands in testdata say")

// now is the time at which the sessions take place.
var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// TestSessions types the commands of each file in testdata and compares what they say with
// what stands below them. A line "hub: FILE" says which objects the hub holds from there.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, string(raw))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(raw), got); diff != "" {
				t.Errorf("the session differs (-want +got); after review, rewrite with -update:\n%s", diff)
			}
		})
	}
}

// replay is the session with what its commands say now.
func replay(t *testing.T, session string) string {
	t.Helper()
	h := &fakeHub{client: hubOf(t, "")}
	var out strings.Builder
	said := false
	for line := range strings.Lines(session) {
		switch command, isCommand := strings.CutPrefix(line, "$ "); {
		case isCommand:
			said = true
			out.WriteString(line + typed(h, strings.Fields(command)) + "\n")
		case strings.HasPrefix(line, "hub: "):
			said = false
			h.client = hubOf(t, filepath.Join("testdata", "hub", strings.TrimSpace(line[5:])))
			out.WriteString(line)
		case strings.HasPrefix(line, "#> "):
			said = false
			out.WriteString(line)
		case !said:
			out.WriteString(line)
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// typed is what a person who types the command sees.
func typed(h *fakeHub, args []string) string {
	h.namespace = ""
	root := newRoot(h, clocktesting.NewFakePassiveClock(now), args[0])
	h.bindFlags(root.PersistentFlags())
	root.SetArgs(args[1:])
	var screen bytes.Buffer
	root.SetOut(&screen)
	root.SetErr(&screen)
	if err := root.ExecuteContext(context.Background()); err != nil {
		screen.WriteString("error: " + err.Error() + "\n")
	}
	return screen.String()
}

// fakeHub is a hub in memory.
type fakeHub struct {
	client    client.Client
	namespace string
}

func (h *fakeHub) bindFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&h.namespace, "namespace", "n", "", "")
}

func (h *fakeHub) Client() (client.Client, error) { return h.client, nil }

func (h *fakeHub) Namespace() (string, error) { return h.namespace, nil }

// hubOf is a hub that holds the objects of a file. Layers have their content as revisions,
// as placement makes them, and bindings speak of these, unless the file says otherwise.
func hubOf(t *testing.T, file string) client.Client {
	t.Helper()
	objects := readObjects(t, file)
	contents := map[v1alpha1.Layered]revision.Content{}
	names := map[v1alpha1.LayerReference]string{}
	for _, o := range objects {
		l, ok := o.(v1alpha1.Layered)
		if !ok || l.GetAnnotations()["test/without-revision"] != "" {
			continue
		}
		content := revision.Content{Public: source.FromSpec(l.LayerSpec())}
		name, err := revision.Name(l, content)
		if err != nil {
			t.Fatal(err)
		}
		l.LayerStatus().Revision = name
		contents[l], names[hubobjects.ReferenceTo(l)] = content, name
	}
	for _, o := range objects {
		if b, ok := o.(*v1alpha1.LayerBinding); ok && b.Status.Revision == "" {
			b.Status.Revision = names[b.Spec.Layer]
		}
	}
	c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(hubScheme()).WithObjects(objects...).Build(), interceptor.Funcs{Create: create})
	store := revision.NewStore(c, defaultSystemNamespace)
	for l, content := range contents {
		if earlier := l.GetAnnotations()["test/earlier"]; earlier != "" {
			if err := store.Save(t.Context(), l, earlier, 0, content); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Save(t.Context(), l, l.LayerStatus().Revision, 1, content); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// create answers who is asking, as a hub does, and makes everything else.
func create(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
	if review, is := o.(*authenticationv1.SelfSubjectReview); is {
		review.Status.UserInfo.Username = "ada"
		return nil
	}
	return c.Create(ctx, o, options...)
}

func readObjects(t *testing.T, file string) []client.Object {
	t.Helper()
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := source.ReadDocuments(file, raw)
	if err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(hubScheme(), serializer.EnableStrict).UniversalDeserializer()
	var objects []client.Object
	for _, document := range documents {
		o, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		objects = append(objects, o.(client.Object))
	}
	return objects
}
