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
	"github.com/syncline-dev/syncline/federation/compress"
)

const entriesMark = "\n==> entries\n"

// TestStoredBytes: what hubs have stored is read for ever. The file is data as it was once
// written, and the entries that were meant; it is never rewritten, and a new format gets a
// file of its own.
func TestStoredBytes(t *testing.T) {
	raw, err := os.ReadFile("testdata/format1.txt")
	if err != nil {
		t.Fatal(err)
	}
	stored, meant, found := strings.Cut(string(raw), entriesMark)
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

// FuzzUnpacked: whatever the packed bytes are, reading them ends with entries that can be
// written and read again, or with an error and without entries.
func FuzzUnpacked(f *testing.F) {
	data, err := encode([]v1alpha1.InventoryEntry{
		{ID: "apps/Deployment/shop/web", Version: "v1", UID: "8c8e9d3a-43c2-4c0a-b6a4-57e1a4a2f0b7", Applied: "AAAAAAAAAAAAAAAA"},
		{ID: "apps/Deployment/shop/web-2", Version: "v1", UID: "none", Yielded: []v1alpha1.YieldedField{{Path: "spec.replicas", Manager: "hpa"}}},
	})
	if err != nil {
		f.Fatal(err)
	}
	unpacked, err := compress.Unpack(data[1:], maxUnpacked)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(unpacked)
	f.Add(unpacked[:len(unpacked)-1])
	f.Fuzz(func(t *testing.T, unpacked []byte) {
		packed, err := compress.Pack(unpacked)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := Read(&v1alpha1.LayerBindingStatus{InventoryData: append([]byte{format1}, packed...)})
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
