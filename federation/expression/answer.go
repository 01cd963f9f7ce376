package expression

// Answer is what asking an expression gives: yes, no, or that it cannot be told.
type Answer string

// The answers.
const (
	True    Answer = "True"
	False   Answer = "False"
	Unknown Answer = "Unknown"
)
