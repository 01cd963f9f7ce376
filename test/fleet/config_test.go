package fleet

import (
	"strings"
	"testing"
)

func TestDefaults(t *testing.T) {
	cfg, err := validated(Config{Members: Members(2)})
	if err != nil {
		t.Fatal(err)
	}
	m := cfg.Members[1]
	if m.Name != "member-2" || m.Namespace != "fleet" || m.Nodes != 1 || m.ServiceCIDR != "10.0.0.0/16" || cfg.Progress == nil {
		t.Errorf("got %+v", cfg)
	}
}

func TestBadConfigurationIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		members []Member
		want    string
	}{
		"no name":       {[]Member{{}}, `member ""`},
		"not a label":   {[]Member{{Name: "a/b"}}, `member "a/b"`},
		"the hub's":     {[]Member{{Name: "hub"}}, "reserved"},
		"etcd's":        {[]Member{{Name: "etcd"}}, "reserved"},
		"twice":         {[]Member{{Name: "a"}, {Name: "a"}}, "taken"},
		"nodes":         {[]Member{{Name: "a", Nodes: -1}}, "nodes"},
		"service range": {[]Member{{Name: "a", ServiceCIDR: "ten"}}, "service CIDR"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Start(t.Context(), Config{Members: tc.members})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}
