package install

import (
	"bufio"
	"os"
	"strings"
)

// Faults are the data races and panics that managers have logged, those that have ended
// included, each with some lines that follow.
func (in *Installation) Faults() []string {
	const following = 40
	var faults []string
	read := map[string]bool{} // a manager that was started again appends to its log
	for _, replica := range in.Replicas {
		if read[replica.LogPath()] {
			continue
		}
		read[replica.LogPath()] = true
		file, err := os.Open(replica.LogPath())
		if err != nil {
			faults = append(faults, err.Error())
			continue
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<22)
		for left := 0; lines.Scan(); left-- {
			text := lines.Text()
			if strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic") {
				left = following
			}
			if left > 0 {
				faults = append(faults, replica.Identity+": "+text)
			}
		}
		file.Close()
	}
	return faults
}
