package fleet

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/syncline-dev/syncline/test/fleet/programs"
)

// identity is what a cluster is recognised by. Recreate gives it a new one.
type identity struct {
	ca    *authority
	admin keyPair
}

// newIdentity makes a cluster's keys and certificates and writes those that its
// processes read. Kubeconfigs come later: they name the port.
func (c *Cluster) newIdentity() (identity, error) {
	services, err := netip.ParsePrefix(c.member.ServiceCIDR)
	if err != nil {
		return identity{}, fmt.Errorf("service CIDR: %w", err)
	}
	ca, err := newAuthority(c.name)
	if err != nil {
		return identity{}, err
	}
	server, err := ca.server(services)
	if err != nil {
		return identity{}, err
	}
	admin, err := ca.client(userAdmin, mastersGroup)
	if err != nil {
		return identity{}, err
	}
	tokens, err := newServiceAccountKey()
	if err != nil {
		return identity{}, err
	}
	err = c.writeFiles(map[string][]byte{
		"ca.crt":              ca.pem.cert,
		"server.crt":          server.cert,
		"server.key":          server.key,
		"service-account.pub": tokens.cert,
		"service-account.key": tokens.key,
		"audit-policy.yaml":   []byte(auditPolicy(c.fleet.cfg.AuditBodies)),
	})
	return identity{ca: ca, admin: admin}, err
}

// writeKubeconfigs writes the kubeconfigs of the cluster's parts and the admin's.
func (c *Cluster) writeKubeconfigs(s state) error {
	for name, user := range map[string]string{
		programs.ControllerManager: userControllerManager,
		programs.Scheduler:         userScheduler,
		programs.Kwok:              userKwok,
	} {
		pair, err := s.ca.client(user, mastersGroup)
		if err != nil {
			return err
		}
		content, err := c.kubeconfig(s, user, pair)
		if err != nil {
			return err
		}
		if err := c.writeFiles(map[string][]byte{name + ".kubeconfig": content}); err != nil {
			return err
		}
	}
	content, err := c.kubeconfig(s, userAdmin, s.admin)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.KubeconfigPath(), content, 0o600); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

func (c *Cluster) kubeconfig(s state, user string, pair keyPair) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[c.name] = &clientcmdapi.Cluster{
		Server:                   url("https", s.port),
		CertificateAuthorityData: s.ca.pem.cert,
	}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{
		ClientCertificateData: pair.cert,
		ClientKeyData:         pair.key,
	}
	config.Contexts[c.name] = &clientcmdapi.Context{Cluster: c.name, AuthInfo: user}
	config.CurrentContext = c.name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig: %w", err)
	}
	return content, nil
}

// file returns the path of a file in the cluster's directory.
func (c *Cluster) file(name string) string {
	return filepath.Join(c.dir(), name)
}

func (c *Cluster) writeFiles(files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(c.file(name), content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// dir holds what belongs to the cluster alone.
func (c *Cluster) dir() string {
	return filepath.Join(c.fleet.dir, c.name)
}
