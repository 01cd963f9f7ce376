package registration

import (
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"
)

// parse reads a kubeconfig's current context into a configuration that stands alone.
func parse(value []byte, opts Options) (*rest.Config, *Life, *RefusedError) {
	kubeconfig, refused := decode(value)
	if refused != nil {
		return nil, nil, refused
	}
	cluster, user, refused := current(kubeconfig)
	if refused != nil {
		return nil, nil, refused
	}
	config := &rest.Config{}
	if refused := cluster.fill(config, opts); refused != nil {
		return nil, nil, refused
	}
	life, refused := user.fill(config)
	if refused != nil {
		return nil, nil, refused
	}
	return config, life, nil
}

// decode keeps parsers' own messages to itself: they may quote what they read.
func decode(value []byte) (*clientcmdapi.Config, *RefusedError) {
	var document any
	if err := yaml.Unmarshal(value, &document); err != nil {
		return nil, refuse(ReasonNotYAML, dataField, "it is neither YAML nor JSON; a stray tab or a second base64 encoding does this")
	}
	if _, ok := document.(map[string]any); !ok {
		return nil, refuse(ReasonNotConfig, dataField, "it is not a kubeconfig but a bare value; is it base64-encoded twice?")
	}
	kubeconfig, err := clientcmd.Load(value)
	if err != nil {
		return nil, refuse(ReasonNotConfig, dataField, "it does not read as kind Config of version v1")
	}
	return kubeconfig, nil
}

func current(kubeconfig *clientcmdapi.Config) (namedCluster, namedUser, *RefusedError) {
	name := kubeconfig.CurrentContext
	if name == "" {
		return namedCluster{}, namedUser{}, refuse(ReasonNoContext, within("current-context"),
			"it is not set; name the context to use")
	}
	context, found := kubeconfig.Contexts[name]
	if !found || context == nil {
		return namedCluster{}, namedUser{}, refuse(ReasonContextNotFound, within("current-context"),
			"there is no context %q", name)
	}
	cluster, found := kubeconfig.Clusters[context.Cluster]
	if !found || cluster == nil {
		return namedCluster{}, namedUser{}, refuse(ReasonClusterNotFound, within("contexts[%s].cluster", name),
			"there is no cluster %q", context.Cluster)
	}
	user, found := kubeconfig.AuthInfos[context.AuthInfo]
	if !found || user == nil {
		return namedCluster{}, namedUser{}, refuse(ReasonUserNotFound, within("contexts[%s].user", name),
			"there is no user %q", context.AuthInfo)
	}
	return namedCluster{context.Cluster, cluster}, namedUser{context.AuthInfo, user}, nil
}

type namedCluster struct {
	name string
	*clientcmdapi.Cluster
}

func (c namedCluster) field(name string) string { return within("clusters[%s].%s", c.name, name) }

// fill copies the endpoint.
func (c namedCluster) fill(config *rest.Config, opts Options) *RefusedError {
	if refused := c.checkServer(); refused != nil {
		return refused
	}
	switch {
	case c.CertificateAuthority != "":
		return refuseFile(c.field("certificate-authority"), "certificate-authority-data")
	case len(c.CertificateAuthorityData) > 0 && c.InsecureSkipTLSVerify:
		return refuse(ReasonConflictingTLS, c.field("insecure-skip-tls-verify"),
			"a certificate authority is given and ignored; remove one of the two")
	case len(c.CertificateAuthorityData) > 0 && !hasCertificate(c.CertificateAuthorityData):
		return refuse(ReasonInvalidCA, c.field("certificate-authority-data"), "it holds no PEM certificate")
	}
	config.Host = c.Server
	config.TLSClientConfig = rest.TLSClientConfig{
		Insecure:   c.InsecureSkipTLSVerify,
		ServerName: c.TLSServerName,
		CAData:     c.CertificateAuthorityData,
	}
	return c.fillProxy(config, opts)
}

func (c namedCluster) checkServer() *RefusedError {
	field := c.field("server")
	if c.Server == "" {
		return refuse(ReasonNoServer, field, "it is not set; give the URL of the API server")
	}
	server, err := url.Parse(c.Server)
	switch {
	case err != nil || server.Opaque != "" || server.Scheme == "":
		return refuse(ReasonInvalidServer, field, "it is not a URL; write https://<host>:<port>")
	case server.Scheme != "https":
		return refuse(ReasonNotHTTPS, field, "its scheme is %s; only https keeps credentials safe", server.Scheme)
	case server.Hostname() == "":
		return refuse(ReasonInvalidServer, field, "it names no host; write https://<host>:<port>")
	case server.User != nil || server.RawQuery != "" || server.Fragment != "":
		return refuse(ReasonInvalidServer, field, "it holds more than host, port and path; credentials belong to the user")
	}
	return nil
}

func (c namedCluster) fillProxy(config *rest.Config, opts Options) *RefusedError {
	if c.ProxyURL == "" {
		return nil
	}
	field := c.field("proxy-url")
	if !opts.AllowProxy {
		return refuse(ReasonProxy, field, "a kubeconfig may not choose a proxy for the hub; remove it, or let the hub's administrator allow proxies")
	}
	proxy, err := url.Parse(c.ProxyURL)
	if err != nil || proxy.Host == "" {
		return refuse(ReasonInvalidProxy, field, "it is not a URL")
	}
	switch proxy.Scheme {
	case "http", "https", "socks5", "socks5h":
	default:
		return refuse(ReasonInvalidProxy, field, "its scheme is none of http, https and socks5")
	}
	config.Proxy = http.ProxyURL(proxy)
	return nil
}

func refuseFile(field, inline string) *RefusedError {
	return refuse(ReasonFile, field, "it names a file, and the hub reads no files for a member; put the content into %s", inline)
}
