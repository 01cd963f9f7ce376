package shard

import (
	"strings"
	"testing"
	"time"
)

func goodConfig() ReplicaConfig {
	return ReplicaConfig{Name: "manager-0", Reader: struct{ LeaseReader }{}, Writer: struct{ LeaseWriter }{}}
}

func TestReplicaConfigHasDefaults(t *testing.T) {
	cfg, err := goodConfig().validated()
	if err != nil {
		t.Fatal(err)
	}
	want := Timings{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second}
	if cfg.Timings != want || cfg.Shards != 64 || cfg.Weight != 1 || cfg.Clock == nil {
		t.Errorf("got %+v", cfg)
	}
	other, _ := goodConfig().validated()
	if cfg.identity() == other.identity() || replicaName(cfg.identity()) != "manager-0" {
		t.Errorf("two processes are %s and %s", cfg.identity(), other.identity())
	}
}

func TestReplicaConfigIsChecked(t *testing.T) {
	for complaint, spoil := range map[string]func(*ReplicaConfig){
		"Name":          func(c *ReplicaConfig) { c.Name = "" },
		"Reader":        func(c *ReplicaConfig) { c.Reader = nil },
		"Writer":        func(c *ReplicaConfig) { c.Writer = nil },
		"Instance":      func(c *ReplicaConfig) { c.Instance = "a_b" },
		"Weight":        func(c *ReplicaConfig) { c.Weight = -1 },
		"Shards":        func(c *ReplicaConfig) { c.Shards = 100_000 },
		"RetryPeriod":   func(c *ReplicaConfig) { c.RetryPeriod = 10 * time.Second },
		"a fifth":       func(c *ReplicaConfig) { c.RenewDeadline = 14 * time.Second },
		"LeaseDuration": func(c *ReplicaConfig) { c.LeaseDuration = time.Hour },
	} {
		cfg := goodConfig()
		spoil(&cfg)
		if _, err := NewReplica(cfg); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: %v", complaint, err)
		}
	}
}

// F13: names of replicas may hold anything, and have any length.
func TestLeaseNamesDoNotCollide(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"a/b-c", "a-b/c", strings.Repeat("x", 300), strings.Repeat("x", 301)} {
		lease := replicaLeaseName(name)
		if other, found := seen[lease]; found || len(lease) > 63 {
			t.Errorf("%q is %s, as is %q", name, lease, other)
		}
		seen[lease] = name
	}
}
