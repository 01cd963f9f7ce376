package object_test

import (
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/syncline-dev/syncline/federation/object"
)

func TestPathOf(t *testing.T) {
	for want, path := range map[object.Path]fieldpath.Path{
		"spec.replicas": fieldpath.MakePathOrDie("spec", "replicas"),
		"metadata.labels[app.kubernetes.io/name]": fieldpath.MakePathOrDie("metadata", "labels", "app.kubernetes.io/name"),
		"spec.containers[web].image": fieldpath.MakePathOrDie("spec", "containers",
			fieldpath.KeyByFields("name", "web"), "image"),
		"spec.ports[80/TCP].name": fieldpath.MakePathOrDie("spec", "ports",
			fieldpath.KeyByFields("port", 80, "protocol", "TCP"), "name"),
		"metadata.finalizers[a/b]": fieldpath.MakePathOrDie("metadata", "finalizers", value.NewValueInterface("a/b")),
		"spec.args[1]":             fieldpath.MakePathOrDie("spec", "args", 1),
	} {
		if got := object.PathOf(path); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
