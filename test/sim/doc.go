// Package sim runs many replicas of clusters/shard, the real code, on virtual time against
// a hub in memory, through random schedules of what goes wrong: crashes, restarts, processes
// that are stopped and resumed, partitions, clocks that are wrong, calls that are slow, fail,
// or succeed without saying so, watches that lag or break, Leases deleted and edited by hand,
// and scaling.
//
// Throughout, every member records who writes to it and in which epoch: two writers at once,
// or a write of an older epoch after one of a newer, end the run. After the schedule comes
// calm; within a bound every member must have exactly one owner, loads be balanced, and
// nothing move any more; then one replica comes or goes, and no more may move than must.
//
// A schedule is a function of its seed, and so is everything random in it. Two runs of a seed
// differ at most where goroutines that are woken at the same nanosecond race. What led to
// a failure is printed as a timeline.
//
//	go test ./test/sim                                      a few hundred schedules
//	go test ./test/sim -schedules=100000 -timeout=0         as many as wanted
//	go test ./test/sim -run Schedules -seed=4711 -v         one, with its timeline
package sim
