package openclaw

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Gateway is the host's server process, as far as it can be seen without its key.
type Gateway struct {
	URL     string `json:"url"`
	Running bool   `json:"running"`
	Reloads bool   `json:"reloads"` // it takes up changes of its configuration by itself
}

const defaultGatewayPort = 18789

// gatewayOf looks whether a gateway runs where the configuration says.
func gatewayOf(ctx context.Context, text []byte) Gateway {
	var c struct {
		Gateway struct {
			Port   int `json:"port"`
			Reload struct {
				Mode string `json:"mode"`
			} `json:"reload"`
		} `json:"gateway"`
	}
	_ = Unmarshal(text, &c) // read before, and what is missing has a default
	if c.Gateway.Port == 0 {
		c.Gateway.Port = defaultGatewayPort
	}
	g := Gateway{URL: fmt.Sprintf("http://127.0.0.1:%d", c.Gateway.Port), Reloads: c.Gateway.Reload.Mode != "off"}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.URL+"/healthz", nil)
	if err != nil {
		return g
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return g
	}
	_ = res.Body.Close()
	g.Running = res.StatusCode == http.StatusOK
	return g
}

// Next says what a person has to do for a change of the configuration to count.
func (g Gateway) Next() string {
	switch {
	case !g.Running:
		return "no gateway runs; the next start takes it up"
	case g.Reloads:
		return "the running gateway reloads its plugins by itself within some seconds; nothing has to be restarted"
	}
	return "the running gateway does not reload by itself (gateway.reload.mode is off): restart it with `openclaw gateway restart`"
}
