// Results of /engine/v1 as the adapter reads them (skald's engine.go).
import type { AgentMessage } from "./host.js";

export interface BootstrapAnswer {
  session_id: string;
  last_seq: number;
  lifecycle?: string;
  cursor?: unknown;
}

export interface ReconcileAnswer {
  imported: number;
  known: number;
}

export interface CommitAnswer {
  status: string;
  stored?: number;
}

export interface AssembleAnswer {
  messages?: AgentMessage[] | null;
  estimated_tokens: number;
  system_prompt_addition?: string;
  projection_epoch?: string;
  turn_id?: string;
  need_tail?: number;
}

export interface CompactAnswer {
  ok: boolean;
  compacted: boolean;
  reason?: string;
  summary?: string;
  first_kept_entry_id?: string;
  tokens_before?: number;
  tokens_after?: number;
  checkpoint?: unknown;
}

export interface ToolAnswer {
  text: string;
  details?: unknown;
  is_error?: boolean;
}
