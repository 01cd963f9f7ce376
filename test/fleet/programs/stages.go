package programs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// kwokStages lists the stages that the program of test/controlplane embeds.
var kwokStages = []string{
	"kustomize/stage/node/fast/node-initialize.yaml",
	"kustomize/stage/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
	"kustomize/stage/pod/fast/pod-ready.yaml",
	"kustomize/stage/pod/fast/pod-complete.yaml",
	"kustomize/stage/pod/fast/pod-delete.yaml",
}

// KwokStages returns kwok's shipped stages for a kwok that was found ready: such
// a program brings none, and plays nothing without a --config that names them.
func (p *Programs) KwokStages(ctx context.Context) ([]byte, error) {
	dir, err := downloadedDir(ctx, filepath.Join(p.main, "test", "controlplane"), "sigs.k8s.io/kwok")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, name := range kwokStages {
		stage, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("read kwok's stages: %w", err)
		}
		out.Write(stage)
		out.WriteString("\n---\n")
	}
	return out.Bytes(), nil
}
