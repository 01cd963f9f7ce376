package inventory

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/federation/compress"
)

const (
	// format1 is the first byte of the data.
	format1 = 1
	// maxUnpacked bounds what data may unfold to.
	maxUnpacked = 8 << 20
)

// table is what is packed: like stands by like, which compresses best.
type table struct {
	_        struct{} `cbor:",toarray"`
	IDs      []string
	Versions []string
	UIDs     []uid
	Applied  []digest
	Owned    []digest
	// Yielded are those of the entries that have any, by their place.
	Yielded map[int][]yielded
}

type yielded struct {
	_             struct{} `cbor:",toarray"`
	Path, Manager string
}

func encode(entries []v1alpha1.InventoryEntry) ([]byte, error) {
	t := table{Yielded: map[int][]yielded{}}
	for i, e := range entries {
		t.IDs, t.Versions, t.UIDs = append(t.IDs, e.ID), append(t.Versions, e.Version), append(t.UIDs, uid(e.UID))
		t.Applied, t.Owned = append(t.Applied, digest(e.Applied)), append(t.Owned, digest(e.Owned))
		for _, field := range e.Yielded {
			t.Yielded[i] = append(t.Yielded[i], yielded{Path: field.Path, Manager: field.Manager})
		}
	}
	unpacked, err := deterministic.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("pack inventory: %w", err)
	}
	if len(unpacked) > maxUnpacked {
		return nil, &TooLargeError{Entries: len(entries), Size: len(unpacked), Limit: maxUnpacked}
	}
	packed, err := compress.Pack(unpacked)
	if err != nil {
		return nil, err
	}
	data := append([]byte{format1}, packed...)
	if len(data) > MaxData {
		return nil, &TooLargeError{Entries: len(entries), Size: len(data), Limit: MaxData}
	}
	return data, nil
}

func decode(data []byte) ([]v1alpha1.InventoryEntry, error) {
	if data[0] != format1 {
		return nil, fmt.Errorf("has format %d, which this version does not know", data[0])
	}
	unpacked, err := compress.Unpack(data[1:], maxUnpacked)
	if err != nil {
		return nil, fmt.Errorf("is damaged: %w", err)
	}
	var t table
	if err := cbor.Unmarshal(unpacked, &t); err != nil {
		return nil, fmt.Errorf("is damaged: %w", err)
	}
	n := len(t.IDs)
	if n == 0 || len(t.Versions) != n || len(t.UIDs) != n || len(t.Applied) != n || len(t.Owned) != n {
		return nil, errors.New("is damaged: its columns differ in length")
	}
	entries := make([]v1alpha1.InventoryEntry, n)
	for i := range entries {
		entries[i] = v1alpha1.InventoryEntry{
			ID: t.IDs[i], Version: t.Versions[i], UID: types.UID(t.UIDs[i]),
			Applied: string(t.Applied[i]), Owned: string(t.Owned[i]),
		}
		for _, field := range t.Yielded[i] {
			entries[i].Yielded = append(entries[i].Yielded, v1alpha1.YieldedField{Path: field.Path, Manager: field.Manager})
		}
	}
	return entries, nil
}

var deterministic = func() cbor.EncMode {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // the options are the library's own
	}
	return mode
}()

// uid is packed as 16 bytes where it is a UUID as Kubernetes writes them, else as text.
type uid string

// MarshalCBOR implements cbor.Marshaler.
func (u uid) MarshalCBOR() ([]byte, error) {
	if id, err := uuid.Parse(string(u)); err == nil && id.String() == string(u) {
		return cbor.Marshal(id[:])
	}
	return cbor.Marshal(string(u))
}

// UnmarshalCBOR implements cbor.Unmarshaler.
func (u *uid) UnmarshalCBOR(data []byte) error {
	text, err := unpacked(data, func(raw []byte) (string, error) {
		id, err := uuid.FromBytes(raw)
		return id.String(), err
	})
	*u = uid(text)
	return err
}

// digest is packed as bytes where it is one of object.Digest, else as text.
type digest string

// MarshalCBOR implements cbor.Marshaler.
func (d digest) MarshalCBOR() ([]byte, error) {
	raw, err := base64.RawURLEncoding.DecodeString(string(d))
	if err == nil && base64.RawURLEncoding.EncodeToString(raw) == string(d) {
		return cbor.Marshal(raw)
	}
	return cbor.Marshal(string(d))
}

// UnmarshalCBOR implements cbor.Unmarshaler.
func (d *digest) UnmarshalCBOR(data []byte) error {
	text, err := unpacked(data, func(raw []byte) (string, error) { return base64.RawURLEncoding.EncodeToString(raw), nil })
	*d = digest(text)
	return err
}

// unpacked is a value that stands as text, or packed.
func unpacked(data []byte, unpack func([]byte) (string, error)) (string, error) {
	var value any
	if err := cbor.Unmarshal(data, &value); err != nil {
		return "", err
	}
	switch value := value.(type) {
	case string:
		return value, nil
	case []byte:
		return unpack(value)
	}
	return "", fmt.Errorf("a %T is neither text nor bytes", value)
}
