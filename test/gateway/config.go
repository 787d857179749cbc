package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
)

// Options describe a gateway. Only Dir, Providers and PrimaryModel are required.
type Options struct {
	Dir     string // scratch folder; home, state, ws, tmp and logs are made below it
	Version string // of OpenClaw; the pinned one when empty

	Providers    []Provider
	PrimaryModel string // "provider/model"

	PluginDir    string // folder of the plugin to load; none when empty
	PluginID     string
	PluginConfig map[string]any
	SlotID       string // engine id for plugins.slots.contextEngine; the host's own engine when empty

	ToolProfile string   // "minimal", "coding", …; the host's default (all tools, about 64 KB of schemas) when empty
	AlsoAllow   []string // tools added to the profile
	ToolSearch  bool     // leave the host's tool search on; plugin tools are then hidden behind tool_call

	ExtraConfig map[string]any // merged over everything else
	Env         []string       // added to the process environment, which is otherwise a minimal one
	Log         io.Writer      // gets a copy of the process output
}

// Provider is one entry of models.providers.
type Provider struct {
	Name    string
	BaseURL string // ends in /v1 for the openai kinds, has no path for anthropic-messages
	API     string // wire protocol, one of APIs
	APIKey  string // "mock-key" when empty
	Models  []Model
	Extra   map[string]any
}

// APIs are the wire protocols the host knows for a configured provider. The first two are the ones in common use.
var APIs = []string{
	"openai-completions", "anthropic-messages", "openai-responses", "google-generative-ai",
	"openai-chatgpt-responses", "azure-openai-responses", "bedrock-converse-stream", "google-vertex",
	"github-copilot", "ollama", "pi-messages",
}

// Model is one model of a provider. Extra takes what has no field here: compat, name, headers, thinking levels.
type Model struct {
	ID            string
	ContextWindow int // 64000 when 0
	MaxTokens     int // 2048 when 0
	Reasoning     bool
	Input         []string // "text" when empty; add "image" for image input
	Extra         map[string]any
}

func (o *Options) locate() (node, openclaw string, err error) {
	if o.Version != "" {
		return LocateVersion(o.Version)
	}
	return Locate()
}

func (o *Options) path(elem ...string) string {
	return filepath.Join(append([]string{o.Dir}, elem...)...)
}

func (o *Options) configPath() string { return o.path("state", "openclaw.json") }

// prepare makes the folders and writes openclaw.json.
func (o *Options) prepare(port int) error {
	for _, dir := range []string{"home", "state", "ws", "logs", "tmp"} {
		if err := os.MkdirAll(o.path(dir), 0o700); err != nil {
			return err
		}
	}
	return writeJSON(o.configPath(), o.config(port))
}

func (o *Options) config(port int) map[string]any {
	providers := map[string]any{}
	for _, p := range o.Providers {
		providers[p.Name] = p.config()
	}
	tools := map[string]any{}
	if !o.ToolSearch {
		tools["toolSearch"] = false
	}
	if o.ToolProfile != "" {
		tools["profile"] = o.ToolProfile
	}
	if len(o.AlsoAllow) > 0 {
		tools["alsoAllow"] = o.AlsoAllow
	}
	config := map[string]any{
		"gateway": map[string]any{
			"mode": "local", "port": port, "bind": "loopback",
			"auth": map[string]any{"mode": "token", "token": Token},
			"http": map[string]any{"endpoints": map[string]any{"chatCompletions": map[string]any{"enabled": true}}},
		},
		"logging": map[string]any{"file": o.path("logs", "openclaw.log")},
		"update":  map[string]any{"checkOnStart": false},
		"models": map[string]any{
			"mode": "replace", "providers": providers,
			"catalogRefresh": map[string]any{"enabled": false},
		},
		"agents": map[string]any{"defaults": map[string]any{
			"model":     map[string]any{"primary": o.PrimaryModel},
			"workspace": o.path("ws"), "skipBootstrap": true,
		}},
		"tools": tools,
	}
	if o.PluginDir != "" {
		entry := map[string]any{
			"enabled": true,
			"hooks":   map[string]any{"allowConversationAccess": true, "allowPromptInjection": true},
		}
		if o.PluginConfig != nil {
			entry["config"] = o.PluginConfig
		}
		plugins := map[string]any{
			"enabled": true,
			"allow":   []string{o.PluginID},
			"load":    map[string]any{"paths": []string{o.PluginDir}},
			"entries": map[string]any{o.PluginID: entry},
		}
		if o.SlotID != "" {
			plugins["slots"] = map[string]any{"contextEngine": o.SlotID}
		}
		config["plugins"] = plugins
	}
	return merge(config, o.ExtraConfig)
}

func (p *Provider) config() map[string]any {
	models := []any{}
	for _, m := range p.Models {
		c := map[string]any{
			"id": m.ID, "name": m.ID, "reasoning": m.Reasoning, "input": m.Input,
			"cost":          map[string]any{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			"contextWindow": m.ContextWindow, "maxTokens": m.MaxTokens,
		}
		if m.Input == nil {
			c["input"] = []string{"text"}
		}
		if m.ContextWindow == 0 {
			c["contextWindow"] = 64000
		}
		if m.MaxTokens == 0 {
			c["maxTokens"] = 2048
		}
		maps.Copy(c, m.Extra)
		models = append(models, c)
	}
	key := p.APIKey
	if key == "" {
		key = "mock-key"
	}
	c := map[string]any{"baseUrl": p.BaseURL, "apiKey": key, "api": p.API, "models": models}
	maps.Copy(c, p.Extra)
	return c
}

// environ is the environment of every process of this package: nothing of the caller's but PATH and locale.
func (o *Options) environ(node string) []string {
	env := []string{
		"PATH=" + filepath.Dir(node) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"LANG=" + os.Getenv("LANG"),
		"HOME=" + o.path("home"), "OPENCLAW_HOME=" + o.path("home"), "TMPDIR=" + o.path("tmp"),
		"OPENCLAW_STATE_DIR=" + o.path("state"), "OPENCLAW_CONFIG_PATH=" + o.configPath(),
		"OPENCLAW_SKIP_CHANNELS=1", "OPENCLAW_DISABLE_BONJOUR=1", "OPENCLAW_NO_AUTO_UPDATE=1",
		"CI=1", "NO_COLOR=1",
	}
	return append(env, o.Env...)
}

// merge lays over on base, objects key by key, and returns base. Other values, lists too, are replaced.
func merge(base, over map[string]any) map[string]any {
	for k, v := range over {
		b, bok := base[k].(map[string]any)
		o, ook := v.(map[string]any)
		if bok && ook {
			v = merge(b, o)
		}
		base[k] = v
	}
	return base
}

// writeJSON replaces the file as a whole: the gateway watches it.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
