package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// readyInterval is how often an unready API server is asked again.
const readyInterval = 50 * time.Millisecond

// waitReady returns when the API server that the kubeconfig file names answers
// 200 to /readyz. It waits as long as ctx allows.
func waitReady(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	defer client.CloseIdleConnections()
	client.Timeout = 5 * time.Second
	err = wait.PollUntilContextCancel(ctx, readyInterval, true, func(ctx context.Context) (bool, error) {
		return ready(ctx, client, config.Host+"/readyz"), nil
	})
	if err != nil {
		return fmt.Errorf("wait until %s is ready: %w", config.Host, err)
	}
	return nil
}

func ready(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}
