package inventory_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/inventory"
)

// fleet is what a layer of n objects has on a member: half of them Deployments, half
// ConfigMaps, with the UIDs and digests of a member of their own.
func fleet(n int) []v1alpha1.InventoryEntry {
	random := rand.NewChaCha8([32]byte{1})
	digest := func() string {
		raw := make([]byte, 12)
		_, _ = random.Read(raw)
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	entries := make([]v1alpha1.InventoryEntry, n)
	for i := range entries {
		uid, err := uuid.NewRandomFromReader(random)
		if err != nil {
			panic(err)
		}
		id := fmt.Sprintf("/ConfigMap/shop/web-%04d", i)
		if i >= n/2 {
			id = fmt.Sprintf("apps/Deployment/shop/web-%04d", i)
		}
		entries[i] = v1alpha1.InventoryEntry{ID: id, Version: "v1", UID: types.UID(uid.String()), Applied: digest(), Owned: digest()}
	}
	return entries
}

func written(t testing.TB, entries []v1alpha1.InventoryEntry) v1alpha1.LayerBindingStatus {
	t.Helper()
	var status v1alpha1.LayerBindingStatus
	if err := inventory.Write(&status, entries); err != nil {
		t.Fatal(err)
	}
	return status
}

// TestWhichFieldIsUsed: up to twenty entries people can read, and more are packed.
func TestWhichFieldIsUsed(t *testing.T) {
	for n, want := range map[int][2]bool{0: {false, false}, 1: {true, false}, 20: {true, false}, 21: {false, true}} {
		status := v1alpha1.LayerBindingStatus{Inventory: fleet(1), InventoryData: []byte("old")}
		if err := inventory.Write(&status, fleet(n)); err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{status.Inventory != nil, status.InventoryData != nil}; got != want {
			t.Errorf("%d entries: list and data are set: %v, want %v", n, got, want)
		}
	}
}

// TestRoundTrip: what is written is read again, whatever stands in it.
func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		entries := fleet(random.IntN(300))
		random.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		for range random.IntN(100) {
			disfigure(random, entries)
		}
		status := written(t, entries)
		got, err := inventory.Read(&status)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) > 0 && !reflect.DeepEqual(entries, got) {
			t.Fatalf("%d entries (-written +read):\n%s", len(entries), cmp.Diff(entries, got))
		}
		if again := written(t, got); !bytes.Equal(status.InventoryData, again.InventoryData) {
			t.Fatal("equal entries have different bytes")
		}
	}
}

// disfigure gives an entry a value that is not as usual.
func disfigure(random *rand.Rand, entries []v1alpha1.InventoryEntry) {
	if len(entries) == 0 {
		return
	}
	e := &entries[random.IntN(len(entries))]
	odd := []string{
		"", "x", "é", "\x00", strings.Repeat("long", 2000),
		"6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}",
		"AAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAA=", "AAAAAAAA\nAAAAAAAA",
	}
	value := odd[random.IntN(len(odd))]
	switch random.IntN(6) {
	case 0:
		e.ID = value
	case 1:
		e.Version = value
	case 2:
		e.UID = types.UID(value)
	case 3:
		e.Applied = value
	case 4:
		e.Owned = value
	default:
		e.Yielded = append(e.Yielded, v1alpha1.YieldedField{Path: "spec.replicas", Manager: value})
	}
}

// TestSize: three thousand objects leave most of what a hub object may weigh.
func TestSize(t *testing.T) {
	const limit = 200 << 10 // of the 256 KB that are promised
	raw, err := json.Marshal(written(t, fleet(3000)))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("3000 entries: %d bytes of JSON", len(raw))
	if len(raw) > limit {
		t.Errorf("3000 entries are %d bytes of JSON, more than %d", len(raw), limit)
	}
}

// TestTooLarge: what no binding can hold is refused before the server refuses it, and with
// the way out.
func TestTooLarge(t *testing.T) {
	status := v1alpha1.LayerBindingStatus{Inventory: fleet(2)}
	err := inventory.Write(&status, fleet(20000))
	var tooLarge *inventory.TooLargeError
	if !errors.As(err, &tooLarge) || tooLarge.Entries != 20000 || !strings.Contains(err.Error(), "split the layer") {
		t.Errorf("%v", err)
	}
	if len(status.Inventory) != 2 || status.InventoryData != nil {
		t.Error("the status has changed")
	}
	endless := fleet(101)
	endless[7].ID = strings.Repeat("a", 9<<20)
	if err := inventory.Write(&status, endless); !errors.As(err, &tooLarge) {
		t.Errorf("%v", err)
	}
}

// TestDamaged: no damage reads as an inventory, and least of all as an empty one.
func TestDamaged(t *testing.T) {
	entries := fleet(101)
	whole := written(t, entries).InventoryData
	for i := 0; i < len(whole); i += 7 {
		for _, data := range [][]byte{whole[:i], flipped(whole, i)} {
			got, err := inventory.Read(&v1alpha1.LayerBindingStatus{InventoryData: data})
			if len(data) > 0 && err == nil && !reflect.DeepEqual(entries, got) {
				t.Fatalf("byte %d of %d: reads as %d entries", i, len(whole), len(got))
			}
		}
	}
	for want, status := range map[string]v1alpha1.LayerBindingStatus{
		"is damaged":              {InventoryData: whole[:100]},
		"is damaged: decompress":  {InventoryData: append(slices.Clone(whole), 0, 0)},
		"has format 2, which":     {InventoryData: append([]byte{2}, whole[1:]...)},
		"are both set":            {InventoryData: whole, Inventory: entries[:1]},
		"inventoryData is damage": {InventoryData: []byte{1}},
	} {
		if got, err := inventory.Read(&status); err == nil || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

func flipped(data []byte, i int) []byte {
	data = slices.Clone(data)
	data[i] ^= 1 << (i % 8)
	return data
}

func BenchmarkWrite(b *testing.B) {
	entries := fleet(3000)
	b.ReportAllocs()
	for b.Loop() {
		written(b, entries)
	}
}

func BenchmarkRead(b *testing.B) {
	status := written(b, fleet(3000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := inventory.Read(&status); err != nil {
			b.Fatal(err)
		}
	}
}
