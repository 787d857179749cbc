// The tools' registration and calls. All logic is the daemon's; only an import begins here, with files of this machine.
import { within, type Client, type Route } from "./client.js";
import type { Config } from "./config.js";
import { asFault } from "./fault.js";
import type { PluginApi, Tool, ToolContext, ToolResult } from "./host.js";
import { warnOnce } from "./process.js";
import { importSource, type ImportRequest, type Report } from "./resource.js";
import { address, bypassed, request, route, type Address, type Where } from "./session.js";
import { toolResult } from "./toolresult.js";
import { toolSpecs, type ToolSpec } from "./toolspecs.js";

/** offered picks the tools of this configuration. */
export function offered(config: Config, compatibility: boolean): ToolSpec[] {
  const everything = config.tools === "all" || compatibility;
  const usual = (t: ToolSpec) => (t.group === "import" ? (config.importTools ?? everything) : t.group === "memory" || everything);
  const named = (names: string[], t: ToolSpec) => names.some((n) => n === t.name || n === t.group || n === "all" || (n === "default" && usual(t)));
  return toolSpecs.filter((t) => {
    if (t.group === "import" && config.importTools === false) return false;
    if (config.enabledTools.length > 0 ? !named(config.enabledTools, t) : !usual(t)) return false;
    return !named(config.disabledTools, t);
  });
}

/** registerTools registers them; each learns of its session from the context that the host gives its factory. */
export function registerTools(api: PluginApi, client: Client, specs: ToolSpec[]): void {
  for (const spec of specs) api.registerTool((ctx) => tool(spec, client, ctx), { name: spec.name });
}

function tool(spec: ToolSpec, client: Client, ctx: ToolContext): Tool {
  return {
    name: spec.name,
    label: spec.label,
    description: spec.text,
    parameters: { type: "object", properties: spec.parameters, required: spec.required },
    execute: (toolCallId, params, signal) => run(spec, client, ctx, toolCallId, params, signal),
  };
}

async function run(spec: ToolSpec, client: Client, ctx: ToolContext, toolCallId: string, params: unknown, signal?: AbortSignal): Promise<ToolResult> {
  const { config } = client;
  const where: Where = { sessionId: ctx.sessionId, sessionKey: ctx.sessionKey, agentId: ctx.agentId, senderId: ctx.requesterSenderId };
  if (bypassed(config, where)) return answer("Memory is switched off for this session (bypassSessionPatterns).", { action: "bypassed" });
  const session = address(config, where);
  const to: Route = { ...route(session), peer: session.sender_id };
  try {
    const { text, details } = await perform(spec, client, ctx, session, to, toolCallId, asObject(params), signal);
    return answer(text, details);
  } catch (error) {
    const fault = asFault(error);
    if (fault.kind === "unavailable") warnOnce(client.log, `tool ${spec.name}`, `skald: ${spec.name} failed: ${fault.message}`);
    return answer(`${spec.name} did not work: ${fault.message}`, { isError: true, kind: fault.kind });
  }
}

async function perform(spec: ToolSpec, client: Client, ctx: ToolContext, session: Address, to: Route, id: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<{ text: string; details: unknown }> {
  if (spec.group === "import") return imported(spec.name, client, ctx, to, params, signal);
  const d = within(client.config.timeoutMs, signal);
  if (spec.group === "tool_result") return toolResult(spec.name, client, session, to, params, d);
  const body = { ...request(client.config, session), tool: spec.name, args: canonical(params), tool_call_id: id };
  const result = await client.call<{ text?: string; details?: unknown; is_error?: boolean }>("tool", body, to, d);
  return { text: result.text ?? "", details: result.is_error ? { ...asObject(result.details), isError: true } : result.details };
}

/** An agent in a sandbox, one that is kept to its workspace, and one that a stranger talks to import from the workspace only. */
function imported(name: string, client: Client, ctx: ToolContext, to: Route, params: Record<string, unknown>, signal?: AbortSignal): Promise<Report> {
  const inside = ctx.sandboxed === true || ctx.fsPolicy?.workspaceOnly === true || ctx.senderIsOwner === false;
  const kind = name === "add_skill" ? "skill" : name === "add_resource" ? "resource" : params.kind;
  return importSource(client, { ...params, kind } as ImportRequest, to, { base: ctx.workspaceDir, inside }, signal);
}

/** Two spellings of one parameter become one. */
function canonical(params: Record<string, unknown>): Record<string, unknown> {
  const { summaryOrMemoryUri, archiveId, ...rest } = params;
  const uri = rest.uri ?? summaryOrMemoryUri;
  const archive = rest.archive ?? archiveId;
  return { ...rest, ...(uri === undefined ? {} : { uri }), ...(archive === undefined ? {} : { archive }) };
}

const asObject = (v: unknown): Record<string, unknown> => (typeof v === "object" && v !== null ? (v as Record<string, unknown>) : {});
const answer = (body: string, details: unknown): ToolResult => ({ content: [{ type: "text", text: body }], details });
