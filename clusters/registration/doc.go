// Package registration turns a kubeconfig Secret, as Cluster API makes it, into the
// identity of a member and a configuration that is safe to connect with.
//
// A kubeconfig is a small program: it can run commands, read files of whoever loads it
// and send traffic through a proxy. Whoever may write a Secret on the hub would then act
// as the hub. So nothing is loaded here by client-go's usual rules: the few fields that
// name an endpoint and inline credentials are copied, and everything that reaches out of
// the Secret is refused, with the field named.
//
// The package is pure. It opens no connection, so it cannot say whether the credentials
// are accepted; an expired certificate is reported (Registration.Life), not refused,
// because only the member can refuse it and its owner must see both.
//
// No error of this package holds a value from a Secret.
package registration
