// The chat command /skald. The daemon knows all the answers; here is only who asks, where, and what the host alone knows.
import { pluginVersion, protocolVersion } from "./build.js";
import { missed } from "./bypass.js";
import { within, type Client } from "./client.js";
import { asFault } from "./fault.js";
import type { CommandContext, PluginApi } from "./host.js";
import { address, bypassed, request, route, type Where } from "./session.js";
import { hostName, unused } from "./slot.js";

export const commandName = "skald";
/** Every command of this plugin. */
export const commandNames = [commandName, "ov-import", "add-resource", "add-skill", "ov-search", "ov-recall-trace"] as const;
const compactMs = 60_000;

/** registerCommand offers the command. Its scope keeps it to the owner on chat channels, and lets the host say who that is. */
export function registerCommand(api: PluginApi, client: Client): void {
  api.registerCommand?.({
    name: commandName,
    description: "Skald: status, why, forget, compact",
    acceptsArgs: true,
    requireAuth: true,
    requiredScopes: ["operator.read"],
    handler: async (ctx) => ({ text: await answer(api, client, ctx) }),
  });
}

async function answer(api: PluginApi, client: Client, ctx: CommandContext): Promise<string> {
  const where: Where = { sessionId: ctx.sessionId, sessionKey: ctx.sessionKey, agentId: ctx.agentId, senderId: ctx.senderId };
  const line = ctx.args?.trim() ?? "";
  if (bypassed(client.config, where)) return "Skald leaves this session alone (bypassSessionPatterns): nothing of it is stored or recalled.";
  const session = address(client.config, where);
  const host = { name: hostName(api), plugin: pluginVersion, protocol: protocolVersion, slot: unused(api), ...missed(where) };
  const body = { ...request(client.config, session), line, owner: isOwner(ctx), host };
  try {
    const ms = line.startsWith("compact") ? compactMs : client.config.timeoutMs;
    return (await client.call<{ text?: string }>("command", body, route(session), within(ms))).text || "Skald gave no answer.";
  } catch (error) {
    const fault = asFault(error);
    if (fault.code === "HTTP404") return `/skald does not work: ${fault.message}. Turns are stored and recalled all the same.`;
    const rest = fault.kind === "unavailable" || fault.kind === "protocol" ? " The agent goes on with OpenClaw's own history." : "";
    return `/skald did not work: ${fault.message}.${rest}`;
  }
}

/** A client of the gateway shows scopes, a chat channel its owner. */
export const isOwner = (ctx: CommandContext) => ctx.senderIsOwner === true || (ctx.gatewayClientScopes?.includes("operator.admin") ?? false);

/** A message of the host's list or transcript, so far as it is read here. */
interface Said {
  role?: unknown;
  content?: unknown;
  provider?: unknown;
  model?: unknown;
}

/** withoutCommands leaves out what was typed to our commands and their answers: the host keeps them in the transcript, but nobody said them to the agent.
 * A line that reached the model, as over HTTP, was said: its answer is the model's. */
export function withoutCommands<T>(list: readonly T[], message: (item: T) => unknown): T[] {
  const said = list.map((item) => message(item) as Said | null);
  const command = (m?: Said | null) => m?.role === "user" && isCommand(textOf(m.content));
  return list.filter((_, i) => {
    const [before, m, after] = [said[i - 1], said[i], said[i + 1]];
    return !(command(m) && (i + 1 === list.length || injected(after))) && !(injected(m) && command(before));
  });
}

/** The host's own answer, which no model gave. */
const injected = (m?: Said | null) => m?.role === "assistant" && m.provider === "openclaw" && m.model === "gateway-injected";
const isCommand = (text: string) => new RegExp(`^/(${commandNames.join("|")})(\\s|$)`, "i").test(text.trim());

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const first = (Array.isArray(content) ? content : []).find((b) => (b as { type?: unknown } | null)?.type === "text") as { text?: unknown } | undefined;
  return typeof first?.text === "string" ? first.text : "";
}
