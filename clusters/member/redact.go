package member

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rbacDenied is an authorizer's message: it names user, verb and resource, and nothing of
// the object.
var rbacDenied = regexp.MustCompile(`User "[^"]*" cannot [a-z]+ resource`)

// redacted makes the failure of a request about a Secret safe for logs and conditions:
// validation and admission quote what they refuse. What kind of error it is stays, and
// which fields are meant: their paths hold keys, no values. Nothing leads back from the
// result to the server's own words.
func redacted(f Failure, err error) (Failure, error) {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return f, err
	}
	status := answer.Status()
	if rbacDenied.MatchString(status.Message) {
		return f, err
	}
	var fields []string
	var causes []metav1.StatusCause
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			causes = append(causes, metav1.StatusCause{Type: cause.Type, Field: cause.Field})
			if cause.Field != "" && !slices.Contains(fields, cause.Field) {
				fields = append(fields, cause.Field)
			}
		}
		details := *status.Details
		details.Causes = causes
		status.Details = &details
	}
	if f.Message == status.Message {
		f.Message = withheld(f.Reason, fields)
	}
	status.Message = f.Message
	return f, &apierrors.StatusError{ErrStatus: status}
}

func withheld(reason string, fields []string) string {
	text := "the member refuses the Secret"
	if len(fields) > 0 {
		text += " for " + strings.Join(fields, ", ")
	}
	return fmt.Sprintf("%s (%s); its answer is withheld, since it may quote values", text, reason)
}
