package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	kubeapiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kubecontrollermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kubescheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const (
	nameEtcd              = "etcd"
	nameAPIServer         = "kube-apiserver"
	nameControllerManager = "kube-controller-manager"
	nameScheduler         = "kube-scheduler"
	nameKwok              = "kwok"
	nameKubectl           = "kubectl"
	nameCluster           = "cluster"
)

func programs() map[string]program {
	return map[string]program{
		nameEtcd:              runEtcd,
		nameAPIServer:         command(kubeapiserver.NewAPIServerCommand),
		nameControllerManager: command(kubecontrollermanager.NewControllerManagerCommand),
		nameScheduler:         command(func() *cobra.Command { return kubescheduler.NewSchedulerCommand() }),
		nameKwok:              runKwok,
		nameKubectl:           runKubectl,
		nameCluster:           runCluster,
	}
}

// command makes a program of a Kubernetes component's cobra command. The command
// is made only when it runs: making it installs signal handlers.
func command(newCommand func() *cobra.Command) program {
	return func(args []string) int {
		cmd := newCommand()
		cmd.SetArgs(args)
		return cli.Run(cmd)
	}
}

func runEtcd(args []string) int {
	etcdmain.Main(append([]string{nameEtcd}, args...))
	return 0
}

func runKubectl(args []string) int {
	// kubectl reads os.Args by itself to find plugins and its verbosity.
	os.Args = append([]string{nameKubectl}, args...)
	if _, err := logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)); err != nil {
		return failed(nameKubectl, err)
	}
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
		return 1
	}
	return 0
}

func runKwok(args []string) int {
	run, err := prepareKwok(args)
	if err != nil {
		return failed(nameKwok, err)
	}
	if err := run(genericapiserver.SetupSignalContext()); err != nil {
		return failed(nameKwok, err)
	}
	return 0
}

func failed(name string, err error) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	return 1
}
