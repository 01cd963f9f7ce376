package registration

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// Life is how long credentials work.
type Life struct {
	// Begins is when they begin to work; zero where they do not say.
	Begins time.Time
	// Ends is when they stop working. It may lie in the past.
	Ends time.Time
}

// longestNotice is how long before their end credentials are called expiring, at most.
const longestNotice = 30 * 24 * time.Hour

// ExpiringFrom is when somebody should see to new credentials: for the last tenth of their
// life, or the last thirty days if that is less. What is issued for an hour is renewed by a
// program, and would otherwise always be about to expire.
func (l Life) ExpiringFrom() time.Time {
	notice := longestNotice
	if !l.Begins.IsZero() {
		notice = min(notice, l.Ends.Sub(l.Begins)/10)
	}
	return l.Ends.Add(-notice)
}

// tokenLife reads a JSON web token without verifying it: the member does that. Other tokens
// do not say when they expire.
func tokenLife(token string) *Life {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var claims struct {
		Issued  float64 `json:"iat"`
		Expires float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Expires <= 0 {
		return nil
	}
	life := &Life{Ends: time.Unix(int64(claims.Expires), 0)}
	if claims.Issued > 0 {
		life.Begins = time.Unix(int64(claims.Issued), 0)
	}
	return life
}

// shorter is the life that ends first; nil if there is none.
func shorter(lives ...*Life) *Life {
	var first *Life
	for _, l := range lives {
		if l != nil && (first == nil || l.Ends.Before(first.Ends)) {
			first = l
		}
	}
	return first
}
