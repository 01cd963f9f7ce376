// Package credential holds the connection to one member's API server: an HTTP transport
// whose endpoint and credentials can be replaced while clients use it.
//
// Clients are built once, against a host that does not exist (a name under the reserved
// TLD "invalid"), and keep working across rotations: every request is rewritten to the
// endpoint of the moment. A replacement starts a new generation of connections:
//
//   - requests that begin from then on use the new one;
//   - watches of the old one end as if the server had closed them, so that reflectors
//     resume from their last resourceVersion over the new one, and nothing is listed again;
//   - other requests of the old one finish, for a bounded time; then its connections are
//     closed for good.
//
// Transports are built here and not by rest.TransportFor: client-go keeps a process-wide
// cache of them, keyed by the credentials, from which nothing that was rotated away leaves
// while it is in use, and its connections notice a dead peer only after 45 seconds.
//
// What it is not: it knows nothing of Kubernetes objects, of ownership or of pausing
// (clusters/member guards what passes), and it does not retry, but for one attempt with
// other credentials after a 401. Connections that leave HTTP (exec, port-forward) are not
// supported: client-go dials those around a transport.
package credential
