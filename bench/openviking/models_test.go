package openviking

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func post(t *testing.T, m *Models, path, body string) map[string]any {
	t.Helper()
	resp, err := http.Post(m.URL()+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	_, _ = b.ReadFrom(resp.Body)
	var v map[string]any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatalf("%s: %s", err, b.String())
	}
	return v
}

func start(t *testing.T) *Models {
	t.Helper()
	m, err := StartModels(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestEmbedIsNearForCommonWords(t *testing.T) {
	t.Parallel()
	boat := Embed("the boat in the harbour")
	if near, far := dot(boat, Embed("a boat leaves the harbour")), dot(boat, Embed("quadratic equations")); near <= far {
		t.Errorf("common words %f, none %f", near, far)
	}
	if n := dot(boat, boat); n < 0.999 || n > 1.001 {
		t.Errorf("length %f", n)
	}
	if Embed("")[0] != 1 {
		t.Error("no text has no vector")
	}
}

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	m := start(t)
	v := post(t, m, "/embeddings", `{"model":"x","input":["one","two"],"encoding_format":"base64"}`)
	data := v["data"].([]any)
	packed := data[1].(map[string]any)["embedding"].(string)
	if b, err := base64.StdEncoding.DecodeString(packed); err != nil || len(b) != 4*Dimension {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	post(t, m, "/embeddings", `{"model":"x","input":"three"}`)
	if m.Embedded() != 3 {
		t.Errorf("%d texts counted", m.Embedded())
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	m := start(t)
	ask := func(body string) string {
		b, _ := json.Marshal(post(t, m, "/chat/completions", body))
		return string(b)
	}
	for name, c := range map[string]struct{ body, want string }{
		"memories": {`{"messages":[{"role":"system","content":"sdk.create_preferences(*)"},{"role":"user","content":"[0][user][ann]: I like red boats."}]}`,
			`topic=\\\"red_boats_1\\\"`},
		"no memories": {`{"messages":[{"role":"user","content":[{"type":"text","text":"sdk.create_preferences(*)"}]}]}`, `"content":"sdk.commit()\n"`},
		"a tool":      {`{"messages":[],"tools":[{"function":{"name":"create_working_memory"}}]}`, `"name":"create_working_memory"`},
		"a text":      {`{"messages":[{"role":"user","content":"hello"}]}`, "scripted model"},
	} {
		if said := ask(c.body); !strings.Contains(said, strings.ReplaceAll(c.want, `\\\"`, `\"`)) {
			t.Errorf("%s: %s", name, said)
		}
	}
	if n := len(m.Completions()); n != 4 {
		t.Errorf("%d requests kept", n)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	m := start(t)
	resp, err := http.Post(m.URL()+"/chat/completions", "application/json", strings.NewReader(`{"stream":true,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	_, _ = b.ReadFrom(resp.Body)
	if !strings.HasPrefix(b.String(), "data: {") || !strings.HasSuffix(b.String(), "data: [DONE]\n\n") {
		t.Error(b.String())
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	into := map[string]any{"server": map[string]any{"port": 1, "host": "a"}, "vlm": map[string]any{}}
	merge(into, map[string]any{"server": map[string]any{"port": 2}, "vlm": nil})
	b, _ := json.Marshal(into)
	if string(b) != `{"server":{"host":"a","port":2},"vlm":null}` {
		t.Error(string(b))
	}
}
