package expression

// Answer is what an expression says about something: three things, since what cannot be
// told is neither true nor false.
type Answer string

// The answers.
const (
	True    Answer = "True"
	False   Answer = "False"
	Unknown Answer = "Unknown"
)
