// The engine in the host's slot: each call becomes one request to the daemon. An instance serves one turn and keeps no more than that.
import { randomUUID } from "node:crypto";
import { pluginId, pluginName, pluginVersion } from "./build.js";
import { failed, served, stored } from "./bypass.js";
import { withoutCommands } from "./command.js";
import { within, type Client, type Deadline } from "./client.js";
import type { Config } from "./config.js";
import { ownMessages } from "./degrade.js";
import { delegate } from "./delegate.js";
import { asFault, Fault } from "./fault.js";
import type * as host from "./host.js";
import { Import } from "./import.js";
import { settle, warnOnce } from "./process.js";
import { address, agentOf, bypassed, request, route, type Address, type Where } from "./session.js";
import { countTokens } from "./tokens.js";
import { resetEntries } from "./transcript.js";
import { assembleBody, tailOf, View } from "./view.js";
import type * as wire from "./wire.js";

export const limits = { bootstrap: 2000, assemble: 2000, commit: 10_000, compact: 60_000, maintainImport: 5000, subagent: 2000 };
const compactCapMs = 600_000; // when the host's signal rules

/** SkaldEngine implements the host's context-engine contract. */
export class SkaldEngine implements host.ContextEngine {
  readonly info: host.EngineInfo;
  private readonly config: Config;
  private readonly turnId = randomUUID();
  private served = false; // the daemon assembled this turn
  private first?: { params: host.AssembleParams; view: View };
  private degraded?: host.AssembleResult;
  private pending = 0; // messages of the turn that an older host stores, and shows, while it runs
  private budget?: number; // the smallest that this turn showed
  private lifecycle?: string;
  private sender?: string;
  private import?: Import;

  constructor(
    private readonly client: Client,
    private readonly loadReader: () => Promise<host.ReadTranscript | undefined>,
    /** Handed back to the host, and to nobody else. */
    private readonly hostConfig?: unknown,
    /** The host has what an owner of the compaction needs (PLG-06). */
    owns = true,
  ) {
    this.config = client.config;
    this.info = {
      id: pluginId,
      name: pluginName,
      version: pluginVersion,
      ownsCompaction: owns,
      // No more than is needed: runtimeContext carries the host's whole configuration, keys included.
      acceptedHostParams: ["sessionKey", "prompt", "sessionTarget", "abortSignal", "runtimeSettings", ...(this.config.person ? ["runtimeContext"] : [])],
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
      turnMaintenanceMode: "foreground",
    };
  }

  async bootstrap(params: host.BootstrapParams) {
    if (bypassed(this.config, params)) return { bootstrapped: false, reason: "bypassed" };
    const d = within(limits.bootstrap);
    const session = this.session(params);
    try {
      const [answer, read] = await Promise.all([this.call<wire.BootstrapAnswer>("bootstrap", session, {}, d), this.loadReader()]);
      const target = { agentId: /^agent:([^:]+):/.exec(params.sessionKey ?? "")?.[1], sessionId: params.sessionId, sessionKey: params.sessionKey, ...params.sessionTarget };
      const unseenReset = session.lifecycle !== undefined && session.lifecycle !== answer.lifecycle;
      this.import = new Import(this.client, session, unseenReset ? () => resetEntries(target) : undefined);
      if (read) await this.import.begin(read, target, typeof answer.cursor === "string" ? answer.cursor : undefined, d);
      return { bootstrapped: true, importedMessages: this.import.imported };
    } catch (error) {
      return { bootstrapped: false, reason: this.note("bootstrap", error) };
    }
  }

  async assemble(params: host.AssembleParams): Promise<host.AssembleResult> {
    if (bypassed(this.config, params)) return ownMessages(params.messages, params.tokenBudget);
    if (params.tokenBudget) this.budget = Math.min(this.budget ?? params.tokenBudget, params.tokenBudget);
    if (this.first) return this.again(params, this.first);
    if (this.degraded) return this.withPending(this.degraded, params);
    try {
      const view = await this.ask(params, within(limits.assemble));
      this.first = { params, view };
      return view.result();
    } catch (error) {
      failed(params, this.note("assemble", error));
      this.degraded = ownMessages(params.messages, params.tokenBudget);
      return this.degraded;
    }
  }

  /** A later call of the turn: the same bytes, refitted only when the first result exceeds its budget. */
  private async again(params: host.AssembleParams, first: { params: host.AssembleParams; view: View }): Promise<host.AssembleResult> {
    const pending = this.pending ? countTokens(params.messages.slice(-this.pending)) : 0;
    if (params.tokenBudget && params.tokenBudget - pending < first.view.estimatedTokens) {
      try {
        const smaller = { ...first.params, tokenBudget: params.tokenBudget };
        first.view = await this.ask(smaller, within(limits.assemble), pending);
      } catch (error) {
        this.note("assemble", error);
      }
    }
    return this.withPending(first.view.result(), params);
  }

  /** A host without commitTurn shows the running turn's messages in the list, after what it was given. */
  private withPending(result: host.AssembleResult, params: host.AssembleParams): host.AssembleResult {
    if (!this.pending) return result;
    const running = params.messages.slice(-this.pending);
    return { ...result, messages: [...result.messages, ...running], estimatedTokens: result.estimatedTokens + countTokens(running) };
  }

  private async ask(params: host.AssembleParams, d: Deadline, pending = 0): Promise<View> {
    const session = this.session(params);
    const body = { ...assembleBody(params, this.turnId, tailOf(params.messages)), pending_tokens: pending || undefined };
    const given = (a: wire.AssembleAnswer, more: boolean) => (more && a.need_tail) || (Array.isArray(a.messages) && !a.need_tail) ? "" : "the daemon gave no messages";
    let answer = await this.call<wire.AssembleAnswer>("assemble", session, body, d, (a) => given(a, true));
    if (answer.need_tail) {
      const tail = withoutCommands(params.messages.slice(-answer.need_tail), (m) => m as unknown);
      answer = await this.call<wire.AssembleAnswer>("assemble", session, { ...body, tail }, d, (a) => given(a, false));
    }
    if (!this.served) served(params);
    this.served = true;
    return new View(answer);
  }

  async commitTurn(params: host.CommitTurnParams): Promise<{ status: "committed" | "duplicate" }> {
    if (bypassed(this.config, params)) return { status: "committed" };
    const d = within(limits.commit);
    await this.import?.settled(limits.commit / 2);
    const body = {
      advancement_key: params.advancementKey,
      admission: anchor(params.admission),
      terminal: anchor(params.terminal),
      messages: params.messages,
      is_heartbeat: params.isHeartbeat,
      turn_id: this.served ? this.turnId : undefined,
      token_budget: this.budget,
    };
    try {
      const known = ({ status }: wire.CommitAnswer) => (status === "committed" || status === "duplicate" ? "" : "the daemon did not acknowledge the turn");
      const { status } = await this.call<wire.CommitAnswer>("commit_turn", this.session(params), body, d, known);
      if (!this.served && !this.degraded) stored(params);
      return { status: status as "committed" | "duplicate" };
    } catch (error) {
      // With versions that do not fit, repeating is no use: the host's transcript keeps the turn, and a later bootstrap reads it there.
      if (asFault(error).kind === "protocol" && (await this.loadReader())) return { status: "committed" };
      // Else the host keeps the turn in its outbox and repeats it.
      throw new Error(`skald: the turn is not stored yet: ${this.note("commit_turn", error)}`);
    }
  }

  async afterTurn(params: host.AfterTurnParams): Promise<void> {
    if (bypassed(this.config, params)) return;
    this.pending += Math.max(0, params.messages.length - params.prePromptMessageCount);
    // OpenClaw 2026.8.1 calls this within the turn, with the running prompt under another time; its commitTurn brings all of it, and
    // its transcript cursor what was interrupted (docs/openclaw.md, 40).
    if (await this.loadReader()) return;
    const body = {
      messages: params.messages,
      pre_prompt_message_count: params.prePromptMessageCount,
      auto_compaction_summary: params.autoCompactionSummary,
      is_heartbeat: params.isHeartbeat,
      token_budget: params.tokenBudget ?? this.budget,
    };
    await this.attempt("after_turn", params, body);
  }

  async ingest(params: host.IngestParams) {
    const { message, ...rest } = params;
    return { ingested: (await this.ingestBatch({ ...rest, messages: [message] })).ingestedCount > 0 };
  }

  async ingestBatch(params: host.IngestBatchParams) {
    if (bypassed(this.config, params)) return { ingestedCount: 0 };
    this.pending += params.messages.length;
    const answer = await this.attempt<wire.CommitAnswer>("ingest", params, { messages: params.messages, is_heartbeat: params.isHeartbeat });
    return { ingestedCount: answer?.stored ?? 0 };
  }

  async compact(params: host.CompactParams): Promise<host.CompactResult> {
    if (bypassed(this.config, params) || !this.info.ownsCompaction) return delegate(params, this.hostConfig);
    const d = within(params.abortSignal ? compactCapMs : limits.compact, params.abortSignal);
    const body = {
      token_budget: params.tokenBudget ?? this.budget,
      current_token_count: params.currentTokenCount,
      force: params.force,
      compaction_target: params.compactionTarget,
      trigger: trigger(params),
      custom_instructions: params.customInstructions,
    };
    try {
      const answer = await this.call<wire.CompactAnswer>("compact", this.session(params), body, d);
      if (answer.compacted) this.first = this.degraded = undefined; // a retry of the turn shall see less
      return compactResult(answer);
    } catch (error) {
      if (asFault(error).kind === "protocol") return delegate(params, this.hostConfig);
      return { ok: false, compacted: false, reason: `skald: ${this.note("compact", error)}` };
    }
  }

  async maintain() {
    return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
  }

  async prepareSubagentSpawn(params: host.SpawnParams) {
    const parent = { sessionId: params.parentSessionId, sessionKey: params.parentSessionKey };
    if (bypassed(this.config, parent)) return undefined;
    const body = { child_session_key: params.childSessionKey, child_session_id: params.childSessionId, context_mode: params.contextMode };
    const done = await this.attempt("subagent_prepare", parent, body, limits.subagent);
    return done && { rollback: async () => void (await this.attempt("subagent_rollback", parent, body, limits.subagent)) };
  }

  async onSubagentEnded(params: host.SubagentEndParams): Promise<void> {
    const agent = agentOf(this.config, { sessionKey: params.childSessionKey });
    const body = { child_session_key: params.childSessionKey, reason: params.reason };
    if (bypassed(this.config, { sessionKey: params.childSessionKey })) return;
    await this.call("subagent_ended", { agent_id: agent }, body, within(limits.subagent)).catch((error: unknown) => this.note("subagent_ended", error));
  }

  async dispose(): Promise<void> {
    this.import?.stop();
    await this.import?.settled(limits.maintainImport);
    this.first = this.degraded = this.import = undefined;
  }

  /** A call whose failure the host need not know: it is noted, and the gap is filled at the next bootstrap. */
  private async attempt<T = object>(name: string, params: Where, body: object, ms = limits.commit): Promise<T | undefined> {
    try {
      return await this.call<T>(name, this.session(params), body, within(ms));
    } catch (error) {
      this.note(name, error);
      return undefined;
    }
  }

  /** A call; wrong says what an answer lacks, as one of another version may. */
  private async call<T>(name: string, session: Address, body: object, d: Deadline, wrong: (answer: T) => string = () => ""): Promise<T> {
    const answer = await this.client.call<T>(name, { ...request(this.config, session), ...body }, route(session), d);
    const lacks = wrong(answer);
    if (lacks) throw new Fault("internal", lacks);
    settle(name);
    return answer;
  }

  /** The session's address; what only some calls tell of it is remembered for the turn. */
  private session(params: Where & { runtimeContext?: { [key: string]: unknown } }): Address {
    const sender = params.runtimeContext?.senderId;
    if (typeof sender === "string" && sender.trim()) this.sender = sender.trim();
    this.lifecycle = params.sessionTarget?.expectedLifecycleRevision ?? this.lifecycle;
    return { ...address(this.config, { ...params, senderId: this.sender }), lifecycle: this.lifecycle };
  }

  /** note logs a failure once and returns it in words. That there is no daemon, or one that does not fit, was said by who looked for it. */
  private note(name: string, error: unknown): string {
    const fault = asFault(error);
    if (fault.code !== "ECONNREFUSED" && fault.kind !== "protocol") warnOnce(this.client.log, name, `skald: ${name} failed (${fault.kind}): ${fault.message}`);
    return fault.message;
  }
}

const anchor = (a?: host.EntryAnchor) => a && { entryId: a.entryId, rawSeq: a.rawSeq, activeMessagePosition: a.activeMessagePosition };

/** The host's own word for it is in runtimeContext, which is not asked for. */
function trigger(params: host.CompactParams): string {
  if (params.compactionTarget === "threshold") return "manual";
  return params.currentTokenCount && params.tokenBudget && params.currentTokenCount >= params.tokenBudget ? "overflow" : "budget";
}

function compactResult(answer: wire.CompactAnswer): host.CompactResult {
  const { ok, compacted, reason } = answer;
  if (!compacted && answer.tokens_before === undefined) return { ok, compacted, reason };
  return {
    ok,
    compacted,
    reason,
    result: {
      summary: answer.summary,
      firstKeptEntryId: answer.first_kept_entry_id,
      tokensBefore: answer.tokens_before ?? 0,
      tokensAfter: answer.tokens_after,
      details: answer.checkpoint && { checkpoint: answer.checkpoint },
    },
  };
}
