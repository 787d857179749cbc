package world

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/test/gateway"
	"github.com/skald-engine/skald/test/scripted"
)

// World is model, daemon and gateway together.
type World struct {
	Dir     string
	Model   *scripted.Server
	Daemon  *Daemon
	Proxy   *Proxy // between plugin and daemon, when asked for
	Gateway *gateway.Gateway
	Client  *client.Client
	Remote  *Remote // what holds the daemon's sessions; nil: the daemon itself
}

// Options choose the parts. The zero value is the default build of the plugin in front of a daemon.
type Options struct {
	Dir          string // scratch folder; needed
	OpenClaw     string // version of the host; the pinned one when empty
	Plugin       string // "skald" (default) or "openviking"
	PluginConfig map[string]any
	Primary      string // "provider/model"; default lab-gpt/gpt-scripted
	ToolProfile  string // default "minimal"; "full" for the host's own default, all tools
	AlsoAllow    []string
	ToolSearch   bool
	ExtraConfig  map[string]any
	DaemonArgs   []string
	Remote       bool // a real OpenViking server holds the daemon's sessions; SKALD_E2E_STORE=openviking: in every world
	NoDaemon     bool // leave it to the plugin
	Proxy        bool // let the plugin reach the daemon through World.Proxy
	// Configure makes the plugin's whole configuration from the daemon's URL and key, in the place of the usual one.
	Configure func(url, key string) map[string]any
	Log       io.Writer
}

// models are the scripted models, a provider each (no name of an official external plugin: docs/openclaw.md, 25): the family in the model's name decides about the form of a recall, as with real
// providers.
var models = []struct {
	provider, profile string
	model             gateway.Model
}{
	{"lab-gpt", "openai", gateway.Model{ID: "gpt-scripted"}},
	{"lab-gpt", "openai", gateway.Model{ID: "gpt-small", ContextWindow: 20_000, MaxTokens: 1024}},
	{"lab-gpt", "openai", gateway.Model{ID: "gpt-large", ContextWindow: 200_000, MaxTokens: 4096}},
	{"lab-gpt", "openai", gateway.Model{ID: "gpt-vision", Input: []string{"text", "image"}}},
	{"lab-claude", "anthropic", gateway.Model{ID: "claude-scripted"}},
	{"lab-claude", "anthropic", gateway.Model{ID: "claude-vision", Input: []string{"text", "image"}}},
	{"lab-claude-think", "anthropic-thinking", gateway.Model{ID: "claude-thinking", Reasoning: true}},
	{"lab-deepseek", "openai-thinking", gateway.Model{ID: "deepseek-scripted", Reasoning: true}},
	{"lab-gemini", "gemini", gateway.Model{ID: "gemini-scripted"}},
	{"lab-gemini-think", "gemini-signed", gateway.Model{ID: "gemini-signed", Reasoning: true}},
	{"lab-mistral", "mistral", gateway.Model{ID: "mistral-scripted"}},
	{"lab-plain", "strict-alternation", gateway.Model{ID: "llama-scripted"}},
	{"lab-bare", "no-tools", gateway.Model{ID: "bare-scripted"}},
}

// windows of the models that need another than the profile's.
func profiles() []scripted.Profile {
	list := scripted.Profiles()
	for i := range list {
		list[i].Models = nil
		for _, m := range models {
			if m.profile == list[i].Name {
				list[i].Models = append(list[i].Models, scripted.Model{ID: m.model.ID, Window: m.model.ContextWindow})
			}
		}
	}
	return list
}

func providers(server *scripted.Server) []gateway.Provider {
	var list []gateway.Provider
	for _, m := range models {
		if n := len(list); n > 0 && list[n-1].Name == m.provider {
			list[n-1].Models = append(list[n-1].Models, m.model)
			continue
		}
		api := string(scripted.OpenAI)
		for _, p := range scripted.Profiles() {
			if p.Name == m.profile {
				api = string(p.API)
			}
		}
		list = append(list, gateway.Provider{Name: m.provider, BaseURL: server.BaseURL(m.profile), API: api, Models: []gateway.Model{m.model}})
	}
	return list
}

// Start builds a world. Close it also after an error.
func Start(ctx context.Context, o Options) (*World, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	w := &World{Dir: o.Dir}
	data := filepath.Join(o.Dir, "skald")
	w.Model = scripted.New(scripted.Options{Profiles: profiles()})
	addr := ""
	if o.NoDaemon {
		free, err := freeAddr()
		if err != nil {
			return w, err
		}
		addr = free
	} else {
		log, err := os.Create(filepath.Join(o.Dir, "daemon.log"))
		if err != nil {
			return w, err
		}
		if o.Remote || remoteStore() {
			if w.Remote, err = startRemote(ctx, o.Dir); err != nil {
				return w, err
			}
			o.DaemonArgs = append([]string{"--config", w.Remote.config}, o.DaemonArgs...)
		}
		if w.Daemon, err = StartDaemon(ctx, data, log, o.DaemonArgs...); err != nil {
			return w, err
		}
		if w.Client, err = w.Daemon.Client(); err != nil {
			return w, err
		}
		addr = w.Daemon.Addr
		if o.Proxy {
			if w.Proxy, err = StartProxy(addr); err != nil {
				return w, err
			}
			addr = w.Proxy.Addr
		}
	}
	return w, w.startGateway(ctx, o, data, addr)
}

func (w *World) startGateway(ctx context.Context, o Options, data, addr string) (err error) {
	plugin := or(o.Plugin, "skald")
	binary, err := Binary()
	if err != nil {
		return err
	}
	config, err := pluginConfig(data, addr, binary)
	if err != nil {
		return err
	}
	maps.Copy(config, o.PluginConfig)
	if o.Configure != nil {
		key, err := w.Daemon.Key()
		if err != nil {
			return err
		}
		config = o.Configure("http://"+addr, key)
	}
	w.Gateway, err = gateway.Start(ctx, gateway.Options{
		Dir: filepath.Join(o.Dir, "openclaw"), Version: o.OpenClaw, Providers: providers(w.Model), PrimaryModel: or(o.Primary, "lab-gpt/gpt-scripted"),
		PluginDir: filepath.Join(Root(), "openclaw", "dist", plugin), PluginID: plugin, SlotID: plugin, PluginConfig: config,
		ToolProfile: toolProfile(o.ToolProfile), AlsoAllow: append([]string{}, o.AlsoAllow...), ToolSearch: o.ToolSearch,
		ExtraConfig: o.ExtraConfig, Log: o.Log,
	})
	return err
}

func pluginConfig(data, addr, binary string) (map[string]any, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	var n int
	if _, err := fmt.Sscan(port, &n); err != nil {
		return nil, err
	}
	return map[string]any{"mode": "local", "port": n, "dataDir": data, "binary": binary, "autoStart": false}, nil
}

func toolProfile(name string) string {
	if name == "full" {
		return ""
	}
	return or(name, "minimal")
}

func or(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// Close ends everything that was started.
func (w *World) Close() {
	if w.Gateway != nil {
		_ = w.Gateway.Stop()
	}
	if w.Daemon != nil {
		w.Daemon.Stop()
	}
	if w.Remote != nil {
		_ = w.Remote.Stop()
	}
	if w.Proxy != nil {
		w.Proxy.Down()
	}
	if w.Model != nil {
		w.Model.Close()
	}
}

// Turn sends a message and returns the model requests that it caused.
func (w *World) Turn(ctx context.Context, key, text string, opts ...gateway.TurnOption) (string, []scripted.Request, error) {
	before := len(w.Model.Requests())
	reply, err := w.Gateway.Turn(ctx, key, text, opts...)
	all := w.Model.Requests()
	return reply, all[before:], err
}

// Identity is who the tests are to the daemon.
var Identity = skald.DefaultIdentity

// Session finds the stored session of a host key.
func (w *World) Session(ctx context.Context, key string) (skald.SessionInfo, error) {
	list, err := w.Client.ListSessions(ctx, Identity, 0)
	if err != nil {
		return skald.SessionInfo{}, err
	}
	for _, s := range list {
		if s.Key == key {
			return s, nil
		}
	}
	return skald.SessionInfo{}, skald.NotFound("world", key)
}
