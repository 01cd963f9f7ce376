package main

import (
	"reflect"
	"testing"
)

func TestCalledByLinkOrFirstArgument(t *testing.T) {
	for name, tc := range map[string]struct {
		argv     []string
		wantName string
		wantArgs []string
	}{
		"link":            {[]string{"/x/etcd", "--a"}, "etcd", []string{"--a"}},
		"argument":        {[]string{"/x/controlplane", "etcd", "--a"}, "etcd", []string{"--a"}},
		"link goes first": {[]string{"kubectl", "etcd"}, "kubectl", []string{"etcd"}},
		"nothing":         {[]string{"controlplane"}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			gotName, gotArgs := called(tc.argv)
			if gotName != tc.wantName || !reflect.DeepEqual(gotArgs, tc.wantArgs) {
				t.Errorf("got %q %q", gotName, gotArgs)
			}
		})
	}
}

func TestParts(t *testing.T) {
	parts, err := parseParts([]string{"kube-scheduler", "--leader-elect=false", "--", "kwok", "--manage-all-nodes=true"})
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 2 || parts[0].name != "kube-scheduler" || parts[1].name != "kwok" {
		t.Errorf("got %+v", parts)
	}
	for _, bad := range [][]string{
		{},
		{"kwok", "--"},
		{"etcd"},
		{"kube-scheduler", "--no-such-flag"},
		{"kube-scheduler", "argument"},
	} {
		if _, err := parseParts(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
