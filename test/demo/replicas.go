package main

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// stopTimeout bounds a manager's clean end.
const stopTimeout = 30 * time.Second

// stopManagers ends all replicas at the same time.
func (d *demo) stopManagers() error {
	errs := make([]error, len(d.syncline.Replicas))
	var wg sync.WaitGroup
	for i, replica := range d.syncline.Replicas {
		select {
		case <-replica.Done():
			continue // a person has ended it, or it was reported
		default:
		}
		wg.Go(func() { errs[i] = replica.Terminate(stopTimeout) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// running is an error once no replica is left.
func (d *demo) running() error {
	for _, replica := range d.syncline.Replicas {
		select {
		case <-replica.Done():
		default:
			return nil
		}
	}
	return fmt.Errorf("no manager is left running\n%s", d.logTails())
}

// logTails are the last lines of the managers' logs.
func (d *demo) logTails() string {
	var text string
	for _, replica := range d.syncline.Replicas {
		text += fmt.Sprintf("%s ends with:\n%s\n", d.dir.show(replica.LogPath()), replica.LogTail())
	}
	return text
}
