// Compiled by `npm run check:host` only: our words for the host against the host's own declarations.
import type { OpenClawPluginApi, OpenClawPluginDefinition, OpenClawPluginToolContext } from "openclaw/plugin-sdk/plugin-entry";
import type { SkaldEngine } from "../src/engine.js";
import type * as ours from "../src/host.js";
import entry from "../src/index.js";

type HostFactory = Parameters<OpenClawPluginApi["registerContextEngine"]>[1];
type HostEngine = Awaited<ReturnType<HostFactory>>;
type HostTool = Exclude<Parameters<OpenClawPluginApi["registerTool"]>[0], (...args: never) => unknown>;

declare const engine: SkaldEngine;
declare const tool: ours.Tool;
declare const service: ours.Service;
declare const command: ours.Command;
declare const replied: ours.ReplyResult;
declare const api: OpenClawPluginApi;
declare const ctx: OpenClawPluginToolContext;

// Our engine, tool, service and entry are what the host asks for.
export const asEngine: HostEngine = engine;
export const asTool: HostTool | { contextVersion: 2 } = tool;
export const asService: Parameters<OpenClawPluginApi["registerService"]>[0] = service;
export const asCommand: Parameters<OpenClawPluginApi["registerCommand"]>[0] = command;
export const asEntry: OpenClawPluginDefinition = { ...entry, register: (a) => entry.register(a as unknown as ours.PluginApi) };

// What the host gives is what we read.
export const rootDir: ours.PluginApi["rootDir"] = api.rootDir;
export const logger: ours.Logger = api.logger;
export const pluginConfig: ours.PluginApi["pluginConfig"] = api.pluginConfig;
export const hostRuntime: ours.PluginApi["runtime"] = api.runtime;
export const hostConfig: ours.PluginApi["config"] = api.config;
export const toolContext: ours.ToolContext = ctx;

type Given<M extends keyof HostEngine> = Parameters<NonNullable<HostEngine[M]> extends (...args: infer A) => unknown ? (...args: A) => void : never>[0];
declare const given: { [M in "bootstrap" | "assemble" | "commitTurn" | "afterTurn" | "compact" | "prepareSubagentSpawn" | "onSubagentEnded" | "ingest" | "ingestBatch"]: Given<M> };
export const bootstrap: ours.BootstrapParams = given.bootstrap;
export const assemble: ours.AssembleParams = given.assemble;
export const commitTurn: ours.CommitTurnParams = given.commitTurn;
export const afterTurn: ours.AfterTurnParams = given.afterTurn;
export const compact: ours.CompactParams = given.compact;
export const spawn: ours.SpawnParams = given.prepareSubagentSpawn;
export const ended: ours.SubagentEndParams = given.onSubagentEnded;
export const ingest: ours.IngestParams = given.ingest;
export const ingestBatch: ours.IngestBatchParams = given.ingestBatch;

// The hooks exist, and carry what we read.
api.on("session_start", (event, hook) => void ([event.sessionId, event.sessionKey, hook.agentId] satisfies unknown[]));
api.on("session_end", (event) => void (event.reason satisfies string | undefined));
api.on("before_reset", (event, hook) => void ([event.reason, hook.sessionKey] satisfies unknown[]));
api.on("gateway_stop", (event) => void (event.reason satisfies string | undefined));
api.on("model_call_started", (event) => void ([event.runId, event.sessionKey] satisfies unknown[]));
api.on("reply_payload_sending", (event) => {
  const read: ours.ReplyEvent = event;
  return read.runId ? replied : undefined;
});
api.on("before_prompt_build", (event) => ({ prependContext: event.prompt }));
api.on("agent_end", (event) => void event.messages);
api.registerGatewayMethod("skald.status", ({ respond }) => respond(true, {}), { scope: "operator.read" });
