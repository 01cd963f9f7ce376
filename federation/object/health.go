package object

// Status is the health of one object in kstatus' words.
type Status string

// The statuses. Federation/health says which an object has.
const (
	Current     Status = "Current"
	InProgress  Status = "InProgress"
	Failed      Status = "Failed"
	Terminating Status = "Terminating"
)

// Health is a status and, where it is not Current, what holds it.
type Health struct {
	Status  Status
	Message string
}
