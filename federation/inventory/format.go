package inventory

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/types"

	"github.com/syncline-dev/syncline/api/v1alpha1"
)

const (
	// format1 is the first byte of the data.
	format1 = 1
	// maxUnpacked bounds what data may unfold to.
	maxUnpacked = 8 << 20
	// leastEntry is the fewest bytes of an unpacked entry: one for each of its numbers.
	leastEntry = 7
)

func encode(entries []v1alpha1.InventoryEntry) ([]byte, error) {
	columns := columnsOf(entries)
	unpacked := binary.AppendUvarint(nil, uint64(len(entries)))
	for _, c := range columns {
		unpacked = c.appendTo(unpacked)
	}
	if len(unpacked) > maxUnpacked {
		return nil, &TooLargeError{Entries: len(entries), Size: len(unpacked), Limit: maxUnpacked}
	}
	data := compress(unpacked)
	if len(data) > MaxData {
		return nil, &TooLargeError{Entries: len(entries), Size: len(data), Limit: MaxData}
	}
	return data, nil
}

// columnsOf are the columns in the order in which they are stored.
func columnsOf(entries []v1alpha1.InventoryEntry) []*column {
	shared, ids, versions := &column{packing: plain}, &column{packing: plain}, &column{packing: plain}
	uids, applied, owned := &column{packing: uuids}, &column{packing: digests}, &column{packing: digests}
	yielded, paths, managers := &column{packing: plain}, &column{packing: plain}, &column{packing: plain}
	before := ""
	for _, e := range entries {
		n := sharedPrefix(before, e.ID)
		shared.number(n)
		ids.add(e.ID[n:])
		before = e.ID
		versions.add(e.Version)
		uids.add(string(e.UID))
		applied.add(e.Applied)
		owned.add(e.Owned)
		yielded.number(len(e.Yielded))
		for _, y := range e.Yielded {
			paths.add(y.Path)
			managers.add(y.Manager)
		}
	}
	return []*column{shared, ids, versions, uids, applied, owned, yielded, paths, managers}
}

func decode(data []byte) ([]v1alpha1.InventoryEntry, error) {
	if data[0] != format1 {
		return nil, fmt.Errorf("has format %d, which this version does not know", data[0])
	}
	unpacked, err := decompress(data[1:])
	if err != nil {
		return nil, fmt.Errorf("is damaged: %w", err)
	}
	s := &stream{rest: unpacked}
	entries := s.entries()
	if len(s.rest) > 0 {
		s.fail(fmt.Errorf("%d bytes are left over", len(s.rest)))
	}
	if s.err != nil {
		return nil, fmt.Errorf("is damaged: %w", s.err)
	}
	return entries, nil
}

func (s *stream) entries() []v1alpha1.InventoryEntry {
	n := s.room(s.number(), leastEntry)
	if n == 0 {
		s.fail(errors.New("it lists nothing"))
	}
	entries := make([]v1alpha1.InventoryEntry, n)
	ids, versions := s.ids(n), s.column(n, plain)
	uids, applied, owned := s.column(n, uuids), s.column(n, digests), s.column(n, digests)
	for i := range entries {
		entries[i] = v1alpha1.InventoryEntry{
			ID: ids[i], Version: versions[i], UID: types.UID(uids[i]), Applied: applied[i], Owned: owned[i],
		}
	}
	s.yielded(entries)
	return entries
}

func (s *stream) ids(n int) []string {
	shared, ids := s.numbers(n), s.column(n, plain)
	before := ""
	for i, kept := range shared {
		if kept > len(before) {
			s.fail(errors.New("an id shares more with the one before it than that one has"))
			break
		}
		ids[i] = before[:kept] + ids[i]
		before = ids[i]
	}
	return ids
}

func (s *stream) yielded(entries []v1alpha1.InventoryEntry) {
	counts, total := s.numbers(len(entries)), 0
	for _, n := range counts {
		total += n
	}
	total = s.room(total, 2)
	paths, managers := s.column(total, plain), s.column(total, plain)
	for i, n := range counts {
		n = min(n, len(paths)) // Fewer only if the stream has failed.
		for j := range n {
			entries[i].Yielded = append(entries[i].Yielded, v1alpha1.YieldedField{Path: paths[j], Manager: managers[j]})
		}
		paths, managers = paths[n:], managers[n:]
	}
}

func sharedPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func compress(unpacked []byte) []byte {
	var data bytes.Buffer
	data.WriteByte(format1)
	w := gzip.NewWriter(&data)
	// Writing to a buffer cannot fail.
	_, _ = w.Write(unpacked)
	_ = w.Close()
	return data.Bytes()
}

// decompress is the inverse of compress. The stream carries a checksum of its content.
func decompress(packed []byte) ([]byte, error) {
	in := bytes.NewReader(packed)
	r, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	r.Multistream(false)
	unpacked, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	switch {
	case err != nil:
		return nil, err
	case len(unpacked) > maxUnpacked:
		return nil, fmt.Errorf("it unfolds to more than %d bytes", maxUnpacked)
	case in.Len() > 0:
		return nil, fmt.Errorf("%d bytes follow it", in.Len())
	}
	return unpacked, nil
}
