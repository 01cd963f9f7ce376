package main

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestBuildOf(t *testing.T) {
	info := &debug.BuildInfo{
		Main:     debug.Module{Version: "v0.3.0"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}},
	}
	for name, tc := range map[string]struct {
		info *debug.BuildInfo
		want build
	}{
		"a release":           {info, build{Version: "v0.3.0", Revision: "abc", Modified: true}},
		"without information": {nil, build{Version: "unknown"}},
	} {
		if diff := cmp.Diff(tc.want, buildOf(tc.info), cmpopts.IgnoreFields(build{}, "Go", "Platform")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
