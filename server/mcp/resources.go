package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skald-engine/skald"
)

// addResources makes every viking:// URI readable: files as they are, folders as a list of what is in them.
func (c caller) addResources(s *mcp.Server) {
	for _, r := range []mcp.Resource{
		{URI: "viking://~/memories", Name: "memories", Description: "What is known for long: profile, preferences, entities, events"},
		{URI: "viking://~/sessions", Name: "sessions", Description: "Conversations with their archives and turns"},
	} {
		r.MIMEType = "text/plain"
		s.AddResource(&r, c.resource)
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "viking://{+path}", Name: "viking", Title: "Anything in Skald", MIMEType: "text/plain",
		Description: "A memory, an archive's overview, turns as JSON lines; a folder reads as its list",
	}, c.resource)
}

// resourceChars is the most of one resource, in characters.
const resourceChars = 1 << 20

func (c caller) resource(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := r.Params.URI
	text, err := c.inspector.Read(ctx, c.id, uri)
	if kind := skald.KindOf(err); kind == skald.KindInvalid || kind == skald.KindNotFound { // perhaps a folder
		if listing, _, listErr := c.list(ctx, listArgs{URI: uri}); listErr == nil {
			text, err = listing, nil
		}
	}
	if err != nil {
		return nil, protocolError(uri, err)
	}
	text, _, _ = part(text, 0, resourceChars)
	mime := "text/plain"
	if strings.HasSuffix(uri, ".md") {
		mime = "text/markdown"
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mime, Text: text}}}, nil
}
