package config

// ToolOutput says which results of tools /api/v1 shows as stubs. The stored turn keeps them whole. Keys and defaults are those of OpenViking's
// server.tool_output_externalization; sizes are characters.
type ToolOutput struct {
	Enabled     bool `json:"enabled"`
	Threshold   int  `json:"threshold_chars"`
	TurnBudget  int  `json:"assistant_turn_inline_budget_chars"`
	Preview     int  `json:"preview_chars"`
	MinPreview  int  `json:"min_preview_chars"`
	TurnPreview int  `json:"assistant_turn_preview_budget_chars"`
}

func defaultToolOutput() ToolOutput {
	return ToolOutput{Enabled: true, Threshold: 20_000, TurnBudget: 100_000, Preview: 2000, MinPreview: 1000, TurnPreview: 10_000}
}

func (c *Config) checkToolOutput() error {
	t := c.ToolOutput
	for key, n := range map[string]int{
		"threshold_chars": t.Threshold, "assistant_turn_inline_budget_chars": t.TurnBudget, "preview_chars": t.Preview,
		"min_preview_chars": t.MinPreview, "assistant_turn_preview_budget_chars": t.TurnPreview,
	} {
		if n < 0 {
			return invalid("tool_output_externalization."+key, "%d is negative", n)
		}
	}
	return nil
}
