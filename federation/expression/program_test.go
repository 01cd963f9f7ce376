package expression

import (
	"reflect"
	"strings"
	"testing"
)

func evaluate(t *testing.T, expression string, thing any) (any, error) {
	t.Helper()
	p, err := things.Value(expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return p.Value(map[string]any{"thing": thing})
}

func TestValue(t *testing.T) {
	for expression, want := range map[string]any{
		`thing`:     int64(9007199254740993),
		`thing + 1`: int64(9007199254740994),
		`quantity('64Gi') > quantity('65805396Ki')`: true,
		`quantity('2') == quantity('2000m')`:        true,
		`quantity('16Gi')`:                          float64(16 << 30),
		`thing > 1.5`:                               true,
		`sha256('abc')`:                             "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		`['a', 'b'].join(',')`:                      "a,b",
		`['a', 'b'].join()`:                         "ab",
		`'aa'.replace('a', 'b')`:                    "bb",
		`'aa'.replace('a', 'b', 1)`:                 "ba",
		`'%s is %d'.format(['a', 1])`:               "a is 1",
	} {
		if got, err := evaluate(t, expression, int64(9007199254740993)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, %v; want %#v", expression, got, err, want)
		}
	}
}

// TestMapsAreInOrder: what is made of a map's keys is the same each time.
func TestMapsAreInOrder(t *testing.T) {
	letters := map[string]any{"c": "x", "a": "x", "d": "x", "b": "x"}
	for range 20 {
		for expression, thing := range map[string]any{
			`thing.map(k, k).join()`:           letters,
			`thing[0].map(k, k).join()`:        []any{letters},
			`thing[0].labels.map(k, k).join()`: []map[string]any{{"labels": letters}},
			`thing.filter(k, k != "").join()`:  map[string]string{"c": "x", "a": "x", "d": "x", "b": "x"},
		} {
			if got, err := evaluate(t, expression, thing); err != nil || got != "abcd" {
				t.Fatalf("%s is %v, %v", expression, got, err)
			}
		}
	}
}

// TestOneCallIsBounded: no single call makes more text than an object can hold, or is cheap
// where it is not.
func TestOneCallIsBounded(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for _, expression := range []string{
		`thing.replace('', thing)`,
		`thing.replace('a', 'aaaa')`,
		`thing.replace('a', 'aaaa', 1)`,
		`[thing, thing, thing].join()`,
		`['a', 'a', 'a', 'a'].join(thing)`,
		`'%s%s%s'.format([thing, thing, thing])`,
		`sha256(thing)`,
		`base64.decode(thing)`,
	} {
		if _, err := evaluate(t, expression, long); err == nil || err.Error() != "takes too much work on this thing: make it simpler" {
			t.Errorf("%s: %v", expression, err)
		}
	}
}

// TestFailuresQuoteOnlyTheAuthor: the name of what is absent is shown only if the expression
// spells it out.
func TestFailuresQuoteOnlyTheAuthor(t *testing.T) {
	thing := map[string]any{"password": "hunter2", "a": map[string]any{}, "list": []any{}}
	for expression, want := range map[string]string{
		`thing.b`:                        `"b" is absent`,
		`thing.a.b`:                      `"b" is absent`,
		`thing.a['b']`:                   `"b" is absent`,
		`thing[?'b'].value()`:            "something that it asks for is absent",
		`thing.a[thing.password]`:        "something that it asks for is absent",
		`{'hunter': 1}[thing.password]`:  "something that it asks for is absent",
		`thing.list[0]`:                  "something that it asks for is absent",
		`int(thing.password)`:            "fails on this thing: it works on a value of another type than it expects, or outside a type's bounds",
		`timestamp(thing.password)`:      "fails on this thing: it works on a value of another type than it expects, or outside a type's bounds",
		`quantity(thing.password) > 1.0`: "fails on this thing: it works on a value of another type than it expects, or outside a type's bounds",
		`b'a'`:                           "gives bytes: encode them with base64.encode()",
		`[type(thing)]`:                  "gives type, which has no JSON form: choose one of its fields",
	} {
		got, err := evaluate(t, expression, thing)
		if err == nil || err.Error() != want {
			t.Errorf("%s is %v, %v; want %q", expression, got, err, want)
		}
	}
}
