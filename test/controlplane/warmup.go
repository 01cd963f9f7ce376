package main

import (
	"runtime/debug"
	"time"
)

const (
	// warmUp is about how long a cluster takes to start on a busy machine.
	warmUp = 10 * time.Second
	// warmUpGCPercent spares a third of the CPU time that a start takes, for
	// about 100 MB that are given back afterwards.
	warmUpGCPercent = 300
)

// relaxGC collects less garbage until the process is warmed up, then as GOGC says.
// A start makes much garbage and is bound by CPU; a cluster at rest makes little
// and is one of many.
func relaxGC() {
	configured := debug.SetGCPercent(warmUpGCPercent)
	time.AfterFunc(warmUp, func() {
		debug.SetGCPercent(configured)
		debug.FreeOSMemory()
	})
}
