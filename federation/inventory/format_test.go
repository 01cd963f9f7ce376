package inventory

import (
	"encoding/base64"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

// TestStoredBytes: what hubs have stored is read for ever. A file of testdata is data as it
// was once written, and the entries that were meant; it is never rewritten, and a new format
// gets a file of its own.
func TestStoredBytes(t *testing.T) {
	raw, err := os.ReadFile("testdata/format1.txt")
	if err != nil {
		t.Fatal(err)
	}
	stored, meant, found := strings.Cut(string(raw), "\n==> entries\n")
	if !found {
		t.Fatal("the file has no entries")
	}
	data, err := base64.StdEncoding.DecodeString(stored)
	if err != nil {
		t.Fatal(err)
	}
	var want []v1alpha1.InventoryEntry
	if err := yaml.UnmarshalStrict([]byte(meant), &want); err != nil {
		t.Fatal(err)
	}
	got, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored bytes are misread (-meant +read):\n%s", diff)
	}
}

// FuzzUnpacked: whatever a stream holds, reading it ends with entries that can be written
// and read again, or with an error and without entries.
func FuzzUnpacked(f *testing.F) {
	for _, entries := range [][]v1alpha1.InventoryEntry{
		{{ID: "/Namespace//shop", Version: "v1"}},
		{
			{ID: "apps/Deployment/shop/web", Version: "v1", UID: "8c8e9d3a-43c2-4c0a-b6a4-57e1a4a2f0b7", Applied: "AAAAAAAAAAAAAAAA"},
			{ID: "apps/Deployment/shop/web-2", Version: "v1", UID: "none", Yielded: []v1alpha1.YieldedField{{Path: "spec.replicas", Manager: "hpa"}}},
		},
	} {
		data, err := encode(entries)
		if err != nil {
			f.Fatal(err)
		}
		unpacked, err := decompress(data[1:])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(unpacked)
		f.Add(unpacked[:len(unpacked)-1])
	}
	f.Fuzz(func(t *testing.T, unpacked []byte) {
		entries, err := decode(compress(unpacked))
		if err != nil {
			if entries != nil {
				t.Errorf("%v, and %d entries", err, len(entries))
			}
			return
		}
		data, err := encode(entries)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decode(data); err != nil || !reflect.DeepEqual(entries, again) {
			t.Errorf("%v, read again %v, %v", entries, again, err)
		}
	})
}

// FuzzData: no data makes reading fail in another way than by an error.
func FuzzData(f *testing.F) {
	f.Add([]byte{format1})
	f.Add(compress([]byte{1, 0, 1, 1, 1, 1, 1, 0}))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := Read(&v1alpha1.LayerBindingStatus{InventoryData: data})
		if (err == nil) != (len(entries) > 0) && len(data) > 0 {
			t.Errorf("%d entries, %v", len(entries), err)
		}
	})
}
