package main

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLateWriterKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var delays []time.Duration
		client := httptest.NewRecorder()
		late := newLateWriter(client, t.Context().Done(), func(by time.Duration) { delays = append(delays, by) })
		const pieces = 26
		for i := range pieces {
			if _, err := late.Write([]byte{byte('a' + i)}); err != nil {
				t.Fatal(err)
			}
		}
		late.close()
		if got := client.Body.String(); got != "abcdefghijklmnopqrstuvwxyz" {
			t.Errorf("passed %q", got)
		}
		if len(delays) != pieces || !slices.IsSorted(delays) || delays[pieces-1] > longestDelay {
			t.Errorf("delayed what was written at one moment by %s", delays)
		}
	})
}

func TestTrafficFigures(t *testing.T) {
	seen := traffic{writes: 4, slow: 1}
	for i := range 100 {
		seen.delays = append(seen.delays, time.Duration(100-i))
	}
	if got := seen.watchDelay(0.95); got != 96 {
		t.Errorf("95 of 100 were delayed by up to %d", got)
	}
	if got := seen.slowShare(); got != 0.25 {
		t.Errorf("a share of %g was slow", got)
	}
}

func TestReportNamesWhatARunLacks(t *testing.T) {
	err := report{}.err()
	if err == nil {
		t.Fatal("a run in which nothing happened is well")
	}
	for _, lacks := range []string{"the run proves nothing", "no verdict", "changed 0 times", "delayed by 0s", "0.00 of status writes"} {
		if !strings.Contains(err.Error(), lacks) {
			t.Errorf("does not say %q: %s", lacks, err)
		}
	}
}
