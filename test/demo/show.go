package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// showLayers shows what a person would ask for first.
func (d *demo) showLayers(ctx context.Context) error {
	d.step("Every layer on every member, and where each field of an object comes from")
	if err := d.synclinectl(ctx, "status"); err != nil {
		return err
	}
	return d.synclinectl(ctx, "explain", d.fleet.Members()[0].Name(), "deployment/shop/web")
}

// synclinectl runs the built program on the hub and shows what it says.
func (d *demo) synclinectl(ctx context.Context, args ...string) error {
	line := "synclinectl " + strings.Join(args, " ")
	cmd := exec.CommandContext(ctx, d.syncline.Program("synclinectl"), append(args, "--kubeconfig="+d.fleet.Hub().KubeconfigPath())...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", line, err, out)
	}
	d.block("$ " + line + "\n" + string(out))
	return nil
}

// lookAround says what to type while the demo goes on.
func (d *demo) lookAround(ctx context.Context) error {
	if d.options.once {
		return nil
	}
	if err := d.linkTools(); err != nil {
		return err
	}
	member := &v1alpha1.MemberCluster{}
	first := d.fleet.Members()[0].Name()
	if err := d.hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: first}, member); err != nil {
		return fmt.Errorf("member %s: %w", first, err)
	}
	d.step("Syncline goes on until Ctrl-C. To look around, in another terminal:")
	d.block("DEMO=" + d.dir.path + "\n" +
		"export KUBECONFIG=$DEMO/hub.kubeconfig PATH=$PATH:$DEMO/bin\n\n" +
		commented([][2]string{
			{"kubectl get mc,layers,clayers,lb,federation -A", "is all well, and if not, where? who owns which member?"},
			{"kubectl wait --for=condition=Converged federation/default", "wait until it is"},
			{"kubectl edit layer web -n fleet", "a change reaches every member"},
			{"kubectl syncline explain " + first + " service/shop/web", "which layer set which field?"},
			{"kubectl --kubeconfig=$DEMO/" + first + ".kubeconfig delete configmap web -n shop", "it comes back"},
			{"kill $(cat $DEMO/" + hub.OwnerOf(member) + ".pid)", "the owner of " + first + " hands over and ends; with kill -9 others take over after 15 s"},
		}))
	return nil
}

// commented sets comments behind commands, in a column.
func commented(lines [][2]string) string {
	width := 0
	for _, line := range lines {
		width = max(width, len(line[0]))
	}
	var text strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&text, "%-*s   # %s\n", width, line[0], line[1])
	}
	return text.String()
}

// linkTools puts beside the built programs what people type: synclinectl as a plugin of
// kubectl, and kubectl itself for those who have none.
func (d *demo) linkTools() error {
	links := map[string]string{"kubectl-syncline": d.syncline.Program("synclinectl")}
	if _, err := exec.LookPath("kubectl"); err != nil {
		links["kubectl"] = d.fleet.Kubectl()
	}
	for name, target := range links {
		link := filepath.Join(d.dir.path, "bin", name)
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Symlink(target, link); err != nil {
			return err
		}
	}
	return nil
}
