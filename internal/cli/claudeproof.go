package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald/host/claude"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/config"
)

// proofTime is the most that a proof takes.
const proofTime = 30 * time.Second

// What the proof says in one session and asks for in another.
const (
	proofFact     = "The proof heron nests in tower 4471."
	proofQuestion = "In which tower does the proof heron nest?"
	proofAnswer   = "4471"
	proofFirst    = "11111111-1111-4111-8111-111111111111"
	proofSecond   = "22222222-2222-4222-8222-222222222222"
)

// proof tries an installation on a throw-away data folder with a daemon of its own.
type proof struct {
	command claude.Command
	dir     string
	done    []string
}

// proveClaude runs the very commands that Claude Code would run: a turn is stored, another session gets it recalled, and the MCP server
// finds it, too. It returns what worked.
func proveClaude(ctx context.Context, command claude.Command) (done []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	dir, err := os.MkdirTemp("", "skald-proof-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	command.Data = filepath.Join(dir, "data")
	p := &proof{command: command, dir: dir}
	err = throwAway(ctx, command.Data, func(url string) error {
		p.command.Server = url
		for _, step := range []func(context.Context) error{p.store, p.recall, p.serve} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	return p.done, err
}

// throwAway runs a daemon on a data folder while do runs.
func throwAway(ctx context.Context, data string, do func(url string) error) error {
	c := config.Default()
	c.Data, c.Listen = data, "127.0.0.1:0"
	if err := c.Finish(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	running, ended := make(chan app.Running, 1), make(chan error, 1)
	go func() {
		ended <- app.Serve(ctx, app.Options{Config: c, Log: slog.New(slog.DiscardHandler)}, func(r app.Running) { running <- r })
	}()
	select {
	case err := <-ended:
		return err
	case r := <-running:
		err := do(r.URL)
		stop()
		return errors.Join(err, <-ended)
	}
}

// store fires the hook at the end of a turn.
func (p *proof) store(ctx context.Context) error {
	path := filepath.Join(p.dir, proofFirst+".jsonl")
	at := time.Now().UTC()
	var lines []byte
	for i, m := range []any{
		map[string]any{"role": "user", "content": proofFact},
		map[string]any{"role": "assistant", "id": "msg_proof", "model": "proof", "content": []any{map[string]string{"type": "text", "text": "Noted."}}},
	} {
		role := []string{"user", "assistant"}[i]
		line, err := json.Marshal(map[string]any{"type": role, "uuid": fmt.Sprintf("33333333-3333-4333-8333-33333333333%d", i), "sessionId": proofFirst,
			"timestamp": at.Format(time.RFC3339Nano), "message": m})
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	if err := os.WriteFile(path, lines, 0o600); err != nil {
		return err
	}
	out, err := p.fire(ctx, "Stop", map[string]any{"session_id": proofFirst, "transcript_path": path, "last_assistant_message": "Noted.", "stop_hook_active": false})
	if err == nil && len(out) > 0 {
		err = fmt.Errorf("the hook of Stop printed %.200q", out)
	}
	if err == nil {
		p.done = append(p.done, "a turn was stored at its end")
	}
	return err
}

// recall fires the hook before a prompt in another session. A machine that is too busy for a search within the hook's time gets two more tries.
func (p *proof) recall(ctx context.Context) error {
	var out []byte
	for range 3 {
		var err error
		out, err = p.fire(ctx, "UserPromptSubmit", map[string]any{"session_id": proofSecond, "transcript_path": filepath.Join(p.dir, proofSecond+".jsonl"), "prompt": proofQuestion})
		if err != nil {
			return err
		}
		var answer struct {
			Specific struct {
				Context string `json:"additionalContext"`
			} `json:"hookSpecificOutput"`
		}
		if json.Unmarshal(out, &answer) == nil && strings.Contains(answer.Specific.Context, proofAnswer) {
			p.done = append(p.done, "another session got it recalled before its prompt")
			return nil
		}
	}
	return fmt.Errorf("what one session said was not recalled in another one: the hook printed %.300q%s", out, p.fault())
}

// fault is what a hook noted, for the error message.
func (p *proof) fault() string {
	b, _ := os.ReadFile(filepath.Join(p.command.Data, "claude-hooks.log"))
	if len(b) == 0 {
		return ""
	}
	return fmt.Sprintf("; it noted %s", bytes.TrimSpace(b))
}

// fire runs a hook command through a shell, as Claude Code does.
func (p *proof) fire(ctx context.Context, event string, in map[string]any) ([]byte, error) {
	in["hook_event_name"], in["cwd"] = event, p.dir
	input, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	name := "sh"
	if runtime.GOOS == "windows" {
		name = "bash"
	}
	cmd := exec.CommandContext(ctx, name, "-c", p.command.Hook(event))
	cmd.Stdin, cmd.Env, cmd.Dir = bytes.NewReader(input), proofEnv(), p.dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the hook of %s: %w", event, err)
	}
	return out, nil
}

// proofEnv keeps the user's own daemon and key out of the proof.
func proofEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "SKALD_API_KEY=") || strings.HasPrefix(pair, "SKALD_DATA=")
	})
}

// serve talks to the MCP server: a greeting and one call.
func (p *proof) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.command.Binary, "mcp", "--server", p.command.Server)
	cmd.Env = append(proofEnv(), "SKALD_DATA="+p.command.Data)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	answer, err := converse(in, bufio.NewReader(out))
	_ = in.Close()
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return fmt.Errorf("the MCP server: %w: %s", err, bytes.TrimSpace(complaint.Bytes()))
	}
	if !strings.Contains(answer, proofAnswer) {
		return fmt.Errorf("the MCP server did not find what was said: it answered %.300q", answer)
	}
	p.done = append(p.done, "the MCP server found it")
	return nil
}

// converse greets an MCP server and calls memory_recall; it returns the answer's line.
func converse(in io.Writer, out *bufio.Reader) (answer string, err error) {
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"skald-proof","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_recall","arguments":{"query":"` + proofQuestion + `"}}}`,
	} {
		if _, err := io.WriteString(in, message+"\n"); err != nil {
			return "", err
		}
		if !strings.Contains(message, `"id"`) {
			continue
		}
		if answer, err = out.ReadString('\n'); err != nil {
			return "", err
		}
	}
	return answer, nil
}
