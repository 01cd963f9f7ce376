package revision

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sync/singleflight"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/syncline-dev/syncline/api/v1alpha1"
	fold "github.com/syncline-dev/syncline/federation/layer"
	"github.com/syncline-dev/syncline/federation/source"
	"github.com/syncline-dev/syncline/reconcilers/hub"
)

// secretType marks the Secrets that hold the secret part of revisions.
const secretType corev1.SecretType = "syncline.dev/revision"

// secretKey is the key of such a Secret's data.
const secretKey = "manifests"

// remembered is how many revisions a replica keeps in memory beside the ones that the
// fold cache holds.
const remembered = 512

// Content is what a layer says: in public, and from Secrets.
type Content struct {
	Public source.Content
	Secret []json.RawMessage
}

// Whole is both parts together. Only the public part has a stored form.
func (c Content) Whole() source.Content { return c.Public.With(c.Secret) }

// Store keeps revisions. Its reads go to the hub, once for each revision: ControllerRevisions
// and Secrets are not cached.
type Store struct {
	client    client.Client
	namespace string
	content   *lru.Cache // contentKey -> source.Content
	reads     singleflight.Group
}

// contentKey tells apart layers that were deleted and made again under one name.
func contentKey(layer v1alpha1.Layered, name string) string {
	return string(layer.GetUID()) + "/" + name
}

// NewStore makes a Store. The client must not cache ControllerRevisions and Secrets;
// systemNamespace is where ClusterLayers' revisions are kept.
func NewStore(c client.Client, systemNamespace string) *Store {
	return &Store{client: c, namespace: systemNamespace, content: lru.New(remembered)}
}

// Name is the name of the revision that holds the content.
func Name(layer v1alpha1.Layered, content Content) (string, error) {
	return source.Name(fold.RefOf(layer).String(), content.Whole())
}

// Namespace is where the revisions of a layer are.
func (s *Store) Namespace(layer v1alpha1.Layered) string {
	if layer.LayerKind() == v1alpha1.KindClusterLayer {
		return s.namespace
	}
	return layer.GetNamespace()
}

// Save stores the content under its name. A revision that exists is left as it is, since
// its name says what it holds. The Secret is written first: a ControllerRevision without
// its Secret is never seen.
func (s *Store) Save(ctx context.Context, layer v1alpha1.Layered, name string, number int64, content Content) error {
	data, err := source.Encode(content.Public)
	if err != nil {
		return err
	}
	meta, err := s.metadata(layer, name, number)
	if err != nil {
		return err
	}
	if len(content.Secret) > 0 {
		if err := s.saveSecret(ctx, *meta.DeepCopy(), content.Secret); err != nil {
			return err
		}
		meta.Annotations[annotationSecret] = name
	}
	revision := &appsv1.ControllerRevision{ObjectMeta: meta, Data: runtime.RawExtension{Raw: data}, Revision: number}
	if err := s.client.Create(ctx, revision); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("save revision %s of %s: %w", name, hub.Describe(layer), err)
	}
	s.content.Add(contentKey(layer, name), content.Whole())
	return nil
}

// annotationNumber repeats a revision's number where a metadata-only read sees it.
const annotationNumber = "syncline.dev/revision-number"

// annotationSecret names the Secret that holds the other part of a revision.
const annotationSecret = "syncline.dev/secret-part"

func (s *Store) saveSecret(ctx context.Context, meta metav1.ObjectMeta, manifests []json.RawMessage) error {
	data, err := source.Encode(source.Content{Manifests: manifests})
	if err != nil {
		return err
	}
	immutable := true
	secret := &corev1.Secret{ObjectMeta: meta, Type: secretType, Immutable: &immutable, Data: map[string][]byte{secretKey: data}}
	if err := s.client.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("save secret part of revision %s: %w", meta.Name, err)
	}
	return nil
}

func (s *Store) metadata(layer v1alpha1.Layered, name string, number int64) (metav1.ObjectMeta, error) {
	meta := metav1.ObjectMeta{
		Namespace: s.Namespace(layer), Name: name,
		Labels:      map[string]string{v1alpha1.LabelLayer: hub.LayerID(layer)},
		Annotations: map[string]string{annotationNumber: strconv.FormatInt(number, 10)},
	}
	if err := controllerutil.SetControllerReference(layer, &meta, s.client.Scheme()); err != nil {
		return meta, fmt.Errorf("own revision %s: %w", name, err)
	}
	return meta, nil
}

// Load reads what a revision says, both parts together.
func (s *Store) Load(ctx context.Context, layer v1alpha1.Layered, name string) (source.Content, error) {
	key := contentKey(layer, name)
	if known, ok := s.content.Get(key); ok {
		return known.(source.Content), nil
	}
	content, err, _ := s.reads.Do(key, func() (any, error) {
		return s.read(ctx, client.ObjectKey{Namespace: s.Namespace(layer), Name: name})
	})
	if err != nil {
		return source.Content{}, fmt.Errorf("read revision %s of %s: %w", name, hub.Describe(layer), err)
	}
	s.content.Add(key, content)
	return content.(source.Content), nil
}

func (s *Store) read(ctx context.Context, key client.ObjectKey) (source.Content, error) {
	var revision appsv1.ControllerRevision
	if err := s.client.Get(ctx, key, &revision); err != nil {
		return source.Content{}, err
	}
	content, err := source.Decode(revision.Data.Raw)
	if err != nil || revision.Annotations[annotationSecret] == "" {
		return content, err
	}
	var secret corev1.Secret
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: revision.Annotations[annotationSecret]}, &secret); err != nil {
		return source.Content{}, err
	}
	secretPart, err := source.Decode(secret.Data[secretKey])
	if err != nil {
		return source.Content{}, err
	}
	return content.With(secretPart.Manifests), nil
}

// Collect deletes the oldest revisions of a layer beyond the limit, and none that is in use.
func (s *Store) Collect(ctx context.Context, layer v1alpha1.Layered, limit int, inUse func(name string) bool) error {
	all, err := s.list(ctx, layer)
	if err != nil {
		return err
	}
	unused := slices.DeleteFunc(all, func(r metav1.PartialObjectMetadata) bool { return inUse(r.Name) })
	for i := limit; i < len(unused); i++ {
		if err := s.delete(ctx, &unused[i]); err != nil {
			return fmt.Errorf("collect revision %s of %s: %w", unused[i].Name, hub.Describe(layer), err)
		}
	}
	return nil
}

// History names the revisions of a layer that are still there, the newest first.
func (s *Store) History(ctx context.Context, layer v1alpha1.Layered) ([]string, error) {
	all, err := s.list(ctx, layer)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names, nil
}

// list lists the revisions of a layer, the newest first.
func (s *Store) list(ctx context.Context, layer v1alpha1.Layered) ([]metav1.PartialObjectMetadata, error) {
	list := metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("ControllerRevisionList"))
	err := s.client.List(ctx, &list, client.InNamespace(s.Namespace(layer)),
		client.MatchingLabels{v1alpha1.LabelLayer: hub.LayerID(layer)})
	if err != nil {
		return nil, fmt.Errorf("list revisions of %s: %w", hub.Describe(layer), err)
	}
	slices.SortFunc(list.Items, func(a, b metav1.PartialObjectMetadata) int { return cmp.Compare(numberOf(&b), numberOf(&a)) })
	return list.Items, nil
}

// numberOf is 0, the oldest, where the annotation was tampered with.
func numberOf(revision *metav1.PartialObjectMetadata) int64 {
	number, err := strconv.ParseInt(revision.Annotations[annotationNumber], 10, 64)
	if err != nil {
		return 0
	}
	return number
}

// delete removes both parts, the ControllerRevision last: what is left half done is found again.
func (s *Store) delete(ctx context.Context, revision *metav1.PartialObjectMetadata) error {
	at := metav1.ObjectMeta{Namespace: revision.Namespace, Name: revision.Name}
	if secret := revision.Annotations[annotationSecret]; secret != "" {
		if err := client.IgnoreNotFound(s.client.Delete(ctx, &corev1.Secret{ObjectMeta: at})); err != nil {
			return err
		}
	}
	return client.IgnoreNotFound(s.client.Delete(ctx, &appsv1.ControllerRevision{ObjectMeta: at}))
}
