package openviking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Options of a server.
type Options struct {
	Venv    string // the virtual environment that scripts/setup-openviking.sh prints; needed
	Dir     string // an empty folder for its configuration, data and home; needed
	RootKey string // "" runs it in its dev mode, without keys
	Models  *Models
	Config  map[string]any // sections of ov.conf, put over the generated ones member by member
	Log     io.Writer      // what the server prints; may be nil
}

// Server is a running OpenViking server.
type Server struct {
	URL     string
	RootKey string
	Dir     string        // home of the process, with ov.conf and the workspace `data`
	Models  *Models       // what it asks
	Startup time.Duration // from the start of the process to the first healthy answer

	options Options
	port    int
	cmd     *exec.Cmd
	ended   chan struct{}
	own     bool // Models was started here
}

// Start starts a server on a free port of loopback and waits until it is healthy, which takes some ten seconds.
func Start(ctx context.Context, o Options) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &Server{URL: fmt.Sprintf("http://127.0.0.1:%d", port), RootKey: o.RootKey, Dir: o.Dir, Models: o.Models, options: o, port: port}
	if s.Models == nil {
		if s.Models, err = StartModels(nil); err != nil {
			return nil, err
		}
		s.own = true
	}
	if err := s.configure(); err != nil {
		return nil, errors.Join(err, s.closeModels())
	}
	if err := s.Run(ctx); err != nil {
		return nil, errors.Join(err, s.closeModels())
	}
	return s, nil
}

// Run starts the process, again after Stop or Kill, on the same data and port.
func (s *Server) Run(ctx context.Context) error {
	conf := filepath.Join(s.Dir, "ov.conf")
	cmd := exec.Command(filepath.Join(s.options.Venv, "bin", "openviking-server"), "--config", conf)
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), "HOME="+s.Dir, "OPENVIKING_CONFIG_FILE="+conf, "PYTHONUNBUFFERED=1")
	cmd.Stdout, cmd.Stderr = s.options.Log, s.options.Log
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("openviking: %w", err)
	}
	s.cmd, s.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) { _ = cmd.Wait(); close(ended) }(s.ended)
	if err := s.healthy(ctx); err != nil {
		s.Kill()
		return err
	}
	s.Startup = time.Since(started)
	return nil
}

// PID is the process id.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Kill ends the process at once.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// Stop ends the process as an operator would, after 20 s by force, and the models that were started with it.
func (s *Server) Stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(20 * time.Second):
		s.Kill()
	}
	return s.closeModels()
}

func (s *Server) closeModels() error {
	if !s.own {
		return nil
	}
	return s.Models.Close()
}

func (s *Server) configure() error {
	conf := map[string]any{
		"server": map[string]any{"host": "127.0.0.1", "port": s.port},
		"storage": map[string]any{"workspace": filepath.Join(s.Dir, "data"),
			"agfs": map[string]any{"backend": "local"}, "vectordb": map[string]any{"backend": "local", "dimension": Dimension}},
		"embedding": map[string]any{"dense": map[string]any{"provider": "openai", "model": "scripted-embedding", "api_key": "scripted",
			"api_base": s.Models.URL(), "dimension": Dimension}},
		"vlm": map[string]any{"provider": "openai", "model": "scripted", "api_key": "scripted", "api_base": s.Models.URL()},
	}
	if s.RootKey != "" {
		conf["server"].(map[string]any)["root_api_key"] = s.RootKey
	}
	merge(conf, s.options.Config)
	b, err := json.MarshalIndent(conf, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.Dir, "ov.conf"), b, 0o600)
}

func merge(into, from map[string]any) {
	for key, value := range from {
		below, ok := value.(map[string]any)
		if old, is := into[key].(map[string]any); ok && is {
			old = maps.Clone(old)
			merge(old, below)
			into[key] = old
			continue
		}
		into[key] = value
	}
}

func (s *Server) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		if answers(ctx, s.URL+"/health") {
			return nil
		}
		select {
		case <-s.ended:
			return errors.New("openviking: the server ended before it was healthy; see its log")
		case <-ctx.Done():
			return fmt.Errorf("openviking: the server was not healthy in time: %w", ctx.Err())
		case <-poll.C:
		}
	}
}

func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(port)
}
