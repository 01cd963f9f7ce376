package compress_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/syncline-dev/syncline/federation/compress"
)

func TestWhatIsPackedIsUnpackedUpToALimit(t *testing.T) {
	raw := bytes.Repeat([]byte("syncline "), 1000)
	packed, err := compress.Pack(raw)
	if err != nil || len(packed) > len(raw)/10 {
		t.Fatalf("%d bytes of %d, %v", len(packed), len(raw), err)
	}
	if got, err := compress.Unpack(packed, int64(len(raw))); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := compress.Unpack(packed, int64(len(raw))-1); err == nil {
		t.Error("the limit does not hold")
	}
}

func TestDamageIsAnError(t *testing.T) {
	packed, err := compress.Pack([]byte("a layer's content, or an inventory"))
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(packed)
	flipped[len(flipped)/2] ^= 1
	for name, data := range map[string][]byte{
		"empty": nil, "cut": packed[:len(packed)-1], "flipped": flipped, "followed by more": append(slices.Clone(packed), 0),
	} {
		if got, err := compress.Unpack(data, 1<<20); err == nil {
			t.Errorf("%s: reads as %q", name, got)
		}
	}
}
