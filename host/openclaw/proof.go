package openclaw

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// Proof is the outcome of one real turn. A good reply proves nothing: the host goes on with its own messages in silence. What counts is
// what the daemon has.
type Proof struct {
	OK        bool     `json:"ok"`
	How       How      `json:"how"`
	Session   string   `json:"session"` // the host's session key
	Assembled bool     `json:"assembled"`
	Committed bool     `json:"committed"`
	Turns     int      `json:"turns"` // stored turns of the session
	Seconds   float64  `json:"seconds"`
	Reason    string   `json:"reason,omitempty"`
	Fix       string   `json:"fix,omitempty"`
	Left      []string `json:"left"` // what the proof could not clear away
}

// How says where the turn ran.
type How string

const (
	// Aside: beside the host's own state, in folders that are gone afterwards, with a daemon of its own.
	Aside How = "throw-away state"
	// ThroughGateway: in the running gateway, with the real data.
	ThroughGateway How = "running gateway"
	// InPlace: embedded, in the host's own state, with the real data.
	InPlace How = "host's state"
)

// Evidence is what a daemon knows about the turn.
type Evidence struct {
	Reached   bool // a daemon answered
	Assembled bool // it has the packet of an assemble in that session
	Committed bool // it has the prompt and the reply
	Turns     int
}

// Witness asks the daemon of a data folder about a turn whose prompt holds mark. Ends it first, when it is a throw-away one.
type Witness func(ctx context.Context, place DaemonPlace, mark string) (Evidence, error)

// DaemonPlace is where a daemon is to be asked.
type DaemonPlace struct {
	URL       string
	Data      string // its data folder, which holds its key; "": the default one
	Agent     string
	ThrowAway bool // to be ended
}

// defaultPort is the plugin's.
const defaultPort = 1933

// daemonOf is the daemon that the plugin uses, as its configuration says.
func daemonOf(text []byte, id string) (d DaemonPlace, err error) {
	value, _, err := get(text, entry(id, "config")...)
	config, _ := value.(map[string]any)
	d.Data, _ = config["dataDir"].(string)
	if d.URL, _ = config["baseUrl"].(string); d.URL == "" || config["mode"] == "local" {
		port := any(defaultPort)
		if p, set := config["port"]; set {
			port = p
		}
		d.URL = fmt.Sprintf("http://127.0.0.1:%v", port)
	}
	return d, err
}

// turnSeconds bounds the turn: a host that starts cold on a busy machine takes minutes.
const turnSeconds = 240

// Prove makes one turn with the host's own model and looks what reached the daemon.
func (i *Installer) Prove(ctx context.Context, ask Witness) (Proof, error) {
	path, text, _, err := readConfig(i.Location)
	if err != nil {
		return Proof{}, err
	}
	begin := i.now()
	t := &trial{Installer: i, path: path, text: text, ask: ask, mark: "skald-proof-" + strings.ToLower(rand.Text()[:10])}
	p, fault, err := t.aside(ctx)
	if err == nil && fault != nil && !p.Committed { // the turn itself failed: perhaps the login lies in the host's state
		p, fault, err = t.live(ctx, fault)
	}
	p.Seconds = i.now().Sub(begin).Seconds()
	if err == nil && !p.OK {
		p.Reason, p.Fix = t.explain(p, fault)
	}
	return p, err
}

// trial is one proof under way.
type trial struct {
	*Installer
	path    string
	text    []byte
	ask     Witness
	mark    string
	said    string // what the host printed
	reached bool
}

func (t *trial) key() string { return "agent:" + t.agent() + ":" + t.mark }

// agent is the one that the turn runs as.
func (t *trial) agent() string {
	value, _, err := get(t.text, "agents", "entries")
	agents, _ := value.(map[string]any)
	if _, main := agents["main"]; err != nil || main || len(agents) == 0 {
		return "main"
	}
	return sortedKeys(agents)[0]
}

func (t *trial) args(more ...string) []string {
	return append(append([]string{"agent"}, more...), "--session-key", t.key(),
		"--message", "Answer with the word ok and nothing else. ("+t.mark+")", "--json", "--timeout", fmt.Sprint(turnSeconds))
}

// aside runs the turn in a state folder and against a daemon of its own. fault is the turn's own failure.
func (t *trial) aside(ctx context.Context) (p Proof, fault, err error) {
	p = Proof{How: Aside, Session: t.key(), Left: []string{}}
	dir, err := os.MkdirTemp("", "skald-proof-")
	if err != nil {
		return p, nil, err
	}
	defer func() {
		if rest := os.RemoveAll(dir); rest != nil {
			p.Left = append(p.Left, dir)
		}
	}()
	place := DaemonPlace{Data: filepath.Join(dir, "skald"), Agent: t.agent(), ThrowAway: true}
	port, err := freePort()
	if err != nil {
		return p, nil, err
	}
	place.URL = fmt.Sprintf("http://127.0.0.1:%d", port)
	text, err := t.detour(place.Data, port)
	if err != nil {
		return p, nil, err
	}
	config, drop, err := beside(t.path, text)
	if err != nil {
		return p, nil, err
	}
	defer drop()
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		return p, nil, err
	}
	env := append(Location{State: state, Config: config}.env(), "SKALD_API_KEY=")
	fault = t.turn(ctx, env, t.args("--local"))
	err = t.look(ctx, &p, place)
	return p, fault, err
}

// detour is the configuration with another daemon, and with the plugins that the host keeps in its state folder.
func (t *trial) detour(data string, port int) (text []byte, err error) {
	text = t.text
	for _, key := range []string{"baseUrl", "apiKey", "localPort", "localDataDir", "configPath"} {
		if text, err = remove(text, entry(t.ID, "config", key)); err != nil {
			return nil, err
		}
	}
	changes := []Change{
		{Path: entry(t.ID, "config", "mode"), Do: Set, Value: "local"}, {Path: entry(t.ID, "config", "autoStart"), Do: Set, Value: true},
		{Path: []string{"tools", "profile"}, Do: Set, Value: "minimal"}, // fewer tokens, and nothing for the model to do
		{Path: entry(t.ID, "config", "port"), Do: Set, Value: port}, {Path: entry(t.ID, "config", "dataDir"), Do: Set, Value: data},
	}
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	for _, dir := range copiesIn(t.Location) {
		if !slices.Contains(loadPaths(root), dir) {
			changes = append(changes, Change{Path: []string{"plugins", "load", "paths"}, Do: Append, Value: dir})
		}
	}
	return applyAll(text, changes)
}

// live runs the turn where the host really works: through its gateway, or in its state when none runs.
func (t *trial) live(ctx context.Context, before error) (p Proof, fault, err error) {
	p = Proof{How: InPlace, Session: t.key(), Left: []string{}}
	args := t.args("--local")
	running := gatewayOf(ctx, t.text).Running
	if running {
		p.How, args = ThroughGateway, t.args()
		if err := t.loaded(ctx); err != nil {
			return p, fmt.Errorf("%w; and beside the gateway: %w", err, before), nil
		}
	}
	fault = t.turn(ctx, t.env(), args)
	place, err := daemonOf(t.text, t.ID)
	if err != nil {
		return p, fault, err
	}
	place.Agent = t.agent()
	if err := t.look(ctx, &p, place); err != nil {
		return p, fault, err
	}
	if p.Turns > 0 {
		p.Left = append(p.Left, fmt.Sprintf("%d turns of this session in Skald's data", p.Turns))
	}
	if !running {
		p.Left = append(p.Left, "the session "+t.key()+" in OpenClaw: `openclaw sessions delete "+t.key()+"` removes it once the gateway runs")
	} else if _, err := t.Program.Run(ctx, t.env(), "sessions", "delete", t.key(), "--yes", "--json"); err != nil {
		p.Left = append(p.Left, "the session "+t.key()+" in OpenClaw, which could not be deleted: "+err.Error())
	} else {
		p.Left = append(p.Left, "OpenClaw's archive of the deleted session, which it keeps for a while")
	}
	return p, fault, nil
}

// loaded waits until the running gateway has taken the plugin up.
func (t *trial) loaded(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := t.Program.Run(ctx, t.env(), "gateway", "call", "skald.status", "--json")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return skald.E("", skald.KindUnavailable, "the running gateway has not loaded the plugin: %w", err)
		case <-time.After(time.Second):
		}
	}
}

func (t *trial) turn(ctx context.Context, env, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, (turnSeconds+60)*time.Second)
	defer cancel()
	out, said, err := t.Program.talk(ctx, env, args...)
	t.said = string(said)
	if err != nil {
		t.said += string(out)
	}
	return err
}

func (t *trial) look(ctx context.Context, p *Proof, place DaemonPlace) error {
	e, err := t.ask(ctx, place, t.mark)
	if err != nil {
		return err
	}
	t.reached = e.Reached
	p.Assembled, p.Committed, p.Turns = e.Assembled, e.Committed, e.Turns
	p.OK = e.Assembled && e.Committed
	return nil
}

// explain finds the likely cause of a failed proof (PLG-06).
func (t *trial) explain(p Proof, fault error) (reason, fix string) {
	said := t.lines()
	version := t.Program.Version
	switch {
	case version != "" && Older(version, MinVersion):
		return "OpenClaw " + version + " is too old: it does not call commitTurn", "update OpenClaw to " + MinVersion + " or later"
	case strings.Contains(said, "no skald binary"):
		return "the plugin finds no skald binary", "set plugins.entries." + t.ID + ".config.binary to the path of skald"
	case p.Assembled:
		return "assemble was called, commitTurn was not, or its turn was not stored: " + or(said, faultText(fault)),
			"`skald doctor`; the daemon's log"
	case p.Committed:
		return "commitTurn was called, assemble was not: " + said, "look at the gateway's log for `context-engine`"
	case strings.Contains(said, "degraded to"):
		return "the slot is set, but OpenClaw took its own engine for the turn: " + said, "`openclaw plugins inspect " + t.ID + " --runtime`"
	case fault != nil:
		return "the turn failed before Skald was asked: " + faultText(fault),
			"see that OpenClaw answers without Skald, then `skald openclaw install` again"
	case !t.reached:
		return "neither assemble nor commitTurn came, and no daemon was started: the plugin was not loaded, or its daemon cannot be " +
				"reached; " + said,
			"`openclaw plugins inspect " + t.ID + " --runtime`"
	}
	return "neither assemble nor commitTurn came: " + said, "`openclaw plugins inspect " + t.ID + " --runtime`"
}

// lines are what the host said about engine and plugin.
func (t *trial) lines() string {
	var list []string
	for line := range strings.Lines(t.said) {
		if strings.Contains(line, "context-engine") || strings.Contains(line, "skald:") || strings.Contains(line, "plugin "+t.ID) {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return lastLines(strings.Join(list, " "))
}

func faultText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
