// Command bench measures the product on real control planes and prints figures as
// "name value unit" lines on standard output; what it is doing goes to standard error.
//
// A ratio compares Syncline with a bare loop that server-side-applies the same change with
// one goroutine for each object and member, interleaved in the same run and seen by the
// same watches: the machine's speed cancels out. How members change their owners is compared
// with multicluster-runtime's own sharded coordinator instead (the command mcr). Load is
// bounded in count and time.
//
// The table of scenarios in main.go says which of them gives which figure; each has a file
// of its own or shares one with its like.
package main
