// The tools offered to the model. All logic is the daemon's.
import { within, type Client } from "./client.js";
import type { Config } from "./config.js";
import { asFault } from "./fault.js";
import type { PluginApi, Tool, ToolContext, ToolResult } from "./host.js";
import { warnOnce } from "./process.js";
import { address, bypassed, request, route, type Where } from "./session.js";

export interface ToolSpec {
  name: string;
  label: string;
  group: "memory" | "archive";
  text: string;
  parameters: Record<string, object>;
  required: string[];
}

const text = (description: string) => ({ type: "string", description });
const count = (description: string) => ({ type: "integer", minimum: 1, maximum: 100, description });
const query = text("What to look for, in plain words");

/** Every tool there is. The manifest declares them all. */
export const toolSpecs: readonly ToolSpec[] = [
  {
    name: "memory_recall",
    label: "Recall",
    group: "memory",
    text: "Search long-term memory, archived conversations and earlier messages. Use it before answering about earlier work, decisions, people, dates or preferences that are not visible.",
    parameters: { query, limit: count("Most results") },
    required: ["query"],
  },
  {
    name: "memory_recall_auto",
    label: "Recall (automatic)",
    group: "memory",
    text: "The automatic form of memory_recall, which runs before each prompt.",
    parameters: { query },
    required: ["query"],
  },
  {
    name: "memory_expand",
    label: "Expand",
    group: "memory",
    text: "Open a summary, archive, memory or turn by its viking:// URI and read the original messages behind it.",
    parameters: {
      uri: text("viking:// URI of a summary, archive, memory or turn"),
      summaryOrMemoryUri: text("The same as uri"),
      query: text("Show only the messages that match"),
      limit: count("Most messages"),
    },
    required: [],
  },
  {
    name: "memory_store",
    label: "Remember",
    group: "memory",
    text: "Store a fact for good. Use it when the user asks to remember something.",
    parameters: { text: text("The fact, in one or a few complete sentences"), type: text("profile, preferences, entities, events, cases or patterns") },
    required: ["text"],
  },
  {
    name: "memory_forget",
    label: "Forget",
    group: "memory",
    text: "Take a memory out of recall for good, by its URI or by a query that finds it.",
    parameters: { uri: text("viking:// URI of the memory"), query: text("What the memory says") },
    required: [],
  },
  {
    name: "ov_archive_search",
    label: "Search archives",
    group: "archive",
    text: "Search the archived messages of this session for words.",
    parameters: { query: text("Words to find"), archive: text("Search this archive only"), archiveId: text("The same as archive") },
    required: ["query"],
  },
  {
    name: "ov_archive_expand",
    label: "Expand archive",
    group: "archive",
    text: "Read the messages of one archive of this session.",
    parameters: { archive: text("Id or viking:// URI of the archive"), archiveId: text("The same as archive") },
    required: [],
  },
];

/** offered picks the tools of this configuration. */
export function offered(config: Config, compatibility: boolean): ToolSpec[] {
  const named = (names: string[], t: ToolSpec) => names.some((n) => n === t.name || n === t.group || n === "all" || (n === "default" && t.group === "memory"));
  return toolSpecs.filter((t) => {
    if (t.group === "archive" && config.tools !== "all" && !compatibility) return false;
    if (config.enabledTools.length > 0 && !named(config.enabledTools, t)) return false;
    return !config.disabledTools.some((n) => n === t.name || n === t.group || n === "all");
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
    execute: (toolCallId, params, signal) => run(spec.name, client, ctx, toolCallId, params, signal),
  };
}

async function run(name: string, client: Client, ctx: ToolContext, toolCallId: string, params: unknown, signal?: AbortSignal): Promise<ToolResult> {
  const { config } = client;
  const where: Where = { sessionId: ctx.sessionId, sessionKey: ctx.sessionKey, agentId: ctx.agentId, senderId: ctx.requesterSenderId };
  if (bypassed(config, where)) return answer("Memory is switched off for this session (bypassSessionPatterns).", { action: "bypassed" });
  const session = address(config, where);
  const body = { ...request(config, session), tool: name, args: canonical(params), tool_call_id: toolCallId };
  try {
    const result = await client.call<{ text?: string; details?: unknown; is_error?: boolean }>("tool", body, route(session), within(config.timeoutMs, signal));
    return answer(result.text ?? "", result.is_error ? { ...asObject(result.details), isError: true } : result.details);
  } catch (error) {
    const fault = asFault(error);
    if (fault.kind === "unavailable") warnOnce(client.log, `tool ${name}`, `skald: ${name} failed: ${fault.message}`);
    return answer(`${name} did not work: ${fault.message}`, { isError: true, kind: fault.kind });
  }
}

/** Two spellings of one parameter become one. */
function canonical(params: unknown): unknown {
  const { summaryOrMemoryUri, archiveId, ...rest } = asObject(params);
  const uri = rest.uri ?? summaryOrMemoryUri;
  const archive = rest.archive ?? archiveId;
  return { ...rest, ...(uri === undefined ? {} : { uri }), ...(archive === undefined ? {} : { archive }) };
}

const asObject = (v: unknown): Record<string, unknown> => (typeof v === "object" && v !== null ? (v as Record<string, unknown>) : {});
const answer = (body: string, details: unknown): ToolResult => ({ content: [{ type: "text", text: body }], details });
