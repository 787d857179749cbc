package gateway

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// RPCError is a refusal by the gateway.
type RPCError struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"`
}

func (e *RPCError) Error() string { return "gateway: " + e.Code + ": " + e.Message }

type frame struct {
	Type    string          `json:"type"`
	ID      string          `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Event   string          `json:"event,omitempty"`
	Params  any             `json:"params,omitempty"`
	OK      bool            `json:"ok,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Error   *RPCError       `json:"error,omitempty"`
}

// Call calls one method of the gateway's WebSocket protocol and returns its payload. Useful ones:
//
//	sessions.compact, sessions.reset, sessions.delete  {"key": "agent:main:x"}
//	chat.send   {"sessionKey": …, "message": …, "idempotencyKey": …}   asynchronous, returns {"runId"}; takes /commands
//	agent.wait  {"runId": …, "timeoutMs": …}                           until that run has ended
//	chat.abort  {"sessionKey": …}
//	chat.history, sessions.list, health, and what plugins registered
//
// Each call opens its own connection, which costs a few milliseconds.
func (g *Gateway) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c, err := g.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if params == nil {
		params = map[string]any{}
	}
	return c.request(method, params)
}

// connect opens a connection as the reserved client of the host's own helpers: on loopback, with the shared token, it needs no paired
// device.
func (g *Gateway) connect(ctx context.Context) (*conn, error) {
	hello := map[string]any{
		"minProtocol": 4, "maxProtocol": 4, "role": "operator",
		"client": map[string]any{"id": "gateway-client", "version": "1", "platform": "linux", "mode": "backend"},
		"scopes": []string{"operator.admin", "operator.read", "operator.write", "operator.approvals", "operator.pairing"},
		"caps":   []string{},
		"auth":   map[string]any{"token": Token},
	}
	for {
		c, err := g.dial(ctx)
		if err != nil {
			return nil, err
		}
		if _, err = c.request("connect", hello); err == nil {
			return c, nil
		}
		c.close()
		var refused *RPCError
		if !errors.As(err, &refused) || refused.Code != "UNAVAILABLE" { // it takes a while after /healthz answers
			return nil, fmt.Errorf("connect: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("connect: %w", errors.Join(err, ctx.Err()))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// conn is the little of RFC 6455 that this needs: text frames in one piece out, any data frames in, no extensions.
type conn struct {
	net.Conn
	r    *bufio.Reader
	next int
	stop func() bool
}

func (g *Gateway) dial(ctx context.Context) (*conn, error) {
	addr := fmt.Sprintf("127.0.0.1:%d", g.port)
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc, r: bufio.NewReader(nc)}
	c.stop = context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	key := make([]byte, 16)
	rand.Read(key)
	fmt.Fprintf(nc, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n", addr, base64.StdEncoding.EncodeToString(key))
	res, err := http.ReadResponse(c.r, nil)
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		err = fmt.Errorf("websocket: %s", res.Status)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *conn) close() {
	c.stop()
	c.Close()
}

// request sends one request and reads until its response; events in between are dropped.
func (c *conn) request(method string, params any) (json.RawMessage, error) {
	c.next++
	id := fmt.Sprint(c.next)
	out, err := json.Marshal(frame{Type: "req", ID: id, Method: method, Params: params})
	if err != nil {
		return nil, err
	}
	if err := c.write(1, out); err != nil {
		return nil, err
	}
	for {
		data, err := c.read()
		if err != nil {
			return nil, err
		}
		var f frame
		if err := json.Unmarshal(data, &f); err != nil {
			return nil, err
		}
		if f.Type != "res" || f.ID != id {
			continue
		}
		if !f.OK {
			if f.Error == nil {
				f.Error = &RPCError{Code: "UNKNOWN"}
			}
			return nil, f.Error
		}
		return f.Payload, nil
	}
}

func (c *conn) write(opcode byte, data []byte) error {
	head := []byte{0x80 | opcode}
	switch n := len(data); {
	case n < 126:
		head = append(head, 0x80|byte(n))
	case n <= 0xffff:
		head = binary.BigEndian.AppendUint16(append(head, 0x80|126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 0x80|127), uint64(n))
	}
	// A zero mask is a valid one and leaves the data as it is; masking protects proxies, and there is none.
	head = append(head, 0, 0, 0, 0)
	_, err := c.Write(append(head, data...))
	return err
}

// read returns the next whole message.
func (c *conn) read() ([]byte, error) {
	var message []byte
	for {
		var head [2]byte
		if _, err := io.ReadFull(c.r, head[:]); err != nil {
			return nil, err
		}
		n := uint64(head[1] & 0x7f)
		switch n {
		case 126:
			var b [2]byte
			if _, err := io.ReadFull(c.r, b[:]); err != nil {
				return nil, err
			}
			n = uint64(binary.BigEndian.Uint16(b[:]))
		case 127:
			var b [8]byte
			if _, err := io.ReadFull(c.r, b[:]); err != nil {
				return nil, err
			}
			n = binary.BigEndian.Uint64(b[:])
		}
		if n > 64<<20 {
			return nil, errors.New("websocket: message too large")
		}
		data := make([]byte, n)
		if _, err := io.ReadFull(c.r, data); err != nil {
			return nil, err
		}
		switch head[0] & 0x0f {
		case 8:
			reason := ""
			if len(data) > 2 {
				reason = string(data[2:])
			}
			return nil, fmt.Errorf("websocket: closed by the gateway: %q", reason)
		case 9:
			if err := c.write(10, data); err != nil {
				return nil, err
			}
		case 10:
		default:
			message = append(message, data...)
			if head[0]&0x80 != 0 {
				return message, nil
			}
		}
	}
}
