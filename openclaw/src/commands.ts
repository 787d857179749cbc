// The chat commands for resources and skills: /ov-import, /add-resource, /add-skill, /ov-search, /ov-recall-trace.
import { parseArgs, type Args } from "./args.js";
import { within, type Client } from "./client.js";
import { isOwner, type commandNames } from "./command.js";
import { asFault, Fault } from "./fault.js";
import type { CommandContext, PluginApi } from "./host.js";
import { importSource } from "./resource.js";
import { address, bypassed, request, route, type Address, type Where } from "./session.js";
import type { ToolAnswer } from "./wire.js";

interface Spec {
  name: (typeof commandNames)[number];
  description: string;
  usage: string;
  run: (client: Client, args: Args, ctx: CommandContext, session: Address) => Promise<string>;
}

const importUsage = "<file, folder, URL or Git address> [--to URI] [--parent URI] [--wait] [--timeout SECONDS]";

/** Every command, with what it is called today in OpenViking's plugin. */
export const commandSpecs: readonly Spec[] = [
  {
    name: "ov-import",
    description: "Import a file, a folder, a web page or a repository as a resource, or a skill",
    usage: `/ov-import ${importUsage} [--kind skill]`,
    run: (client, args, ctx, session) => runImport(client, args, ctx, session, text(args, "kind") ?? "resource"),
  },
  {
    name: "add-resource",
    description: "Import a file, a folder, a web page or a repository",
    usage: `/add-resource ${importUsage}`,
    run: (client, args, ctx, session) => runImport(client, args, ctx, session, "resource"),
  },
  {
    name: "add-skill",
    description: "Import a skill: a SKILL.md, a folder, or a zip archive",
    usage: "/add-skill <SKILL.md, folder or zip archive> [--to URI]",
    run: (client, args, ctx, session) => runImport(client, args, ctx, session, "skill"),
  },
  {
    name: "ov-search",
    description: "Search resources and skills",
    usage: '/ov-search "query" [--uri URI] [--limit N]',
    run: (client, args, _ctx, session) => {
      if (!args.text) throw new Fault("usage", "");
      return ask(client, session, "ov_search", { query: args.text, uri: text(args, "uri"), limit: number(args, "limit") });
    },
  },
  {
    name: "ov-recall-trace",
    description: "What was recalled before the last answers, and why",
    usage: "/ov-recall-trace [--turn latest|all] [--limit N] [--include-content]",
    run: (client, args, _ctx, session) =>
      ask(client, session, "ov_recall_trace", { turn: text(args, "turn"), limit: number(args, "limit"), includeContent: args.flags.include_content === true }),
  },
];

/** registerCommands offers them. Like /skald they are for people with a right to command; an import is the owner's alone. */
export function registerCommands(api: PluginApi, client: Client): void {
  for (const spec of commandSpecs) {
    api.registerCommand?.({
      name: spec.name,
      description: `Skald: ${spec.description}`,
      acceptsArgs: true,
      requireAuth: true,
      requiredScopes: ["operator.read"],
      handler: async (ctx) => ({ text: await answer(spec, client, ctx) }),
    });
  }
}

async function answer(spec: Spec, client: Client, ctx: CommandContext): Promise<string> {
  const where: Where = { sessionId: ctx.sessionId, sessionKey: ctx.sessionKey, agentId: ctx.agentId, senderId: ctx.senderId };
  if (bypassed(client.config, where)) return "Skald leaves this session alone (bypassSessionPatterns).";
  const args = parseArgs(ctx.args ?? "", ["wait", "include_content"]);
  try {
    return await spec.run(client, args, ctx, address(client.config, where));
  } catch (error) {
    const fault = asFault(error);
    return fault.kind === "usage" ? `Usage: ${spec.usage}` : `/${spec.name} did not work: ${fault.message}.`;
  }
}

async function runImport(client: Client, args: Args, ctx: CommandContext, session: Address, kind: string): Promise<string> {
  if (!args.text) throw new Fault("usage", "");
  if (!isOwner(ctx)) throw new Fault("permission", "only the owner may import: it reads files of this machine and adds to what every session finds");
  const r = { source: args.text, kind, to: text(args, "to"), parent: text(args, "parent"), reason: text(args, "reason"), instruction: text(args, "instruction"), wait: args.flags.wait === true || args.flags.wait === "true", timeout: number(args, "timeout") };
  return (await importSource(client, r, { ...route(session), peer: session.sender_id }, { inside: false })).text;
}

async function ask(client: Client, session: Address, tool: string, args: object): Promise<string> {
  const body = { ...request(client.config, session), tool, args };
  return (await client.call<ToolAnswer>("tool", body, route(session), within(client.config.timeoutMs))).text || "No answer.";
}

const text = (args: Args, name: string) => (typeof args.flags[name] === "string" ? (args.flags[name] as string) : undefined);

function number(args: Args, name: string): number | undefined {
  const given = text(args, name);
  if (given === undefined) return undefined;
  const n = Number(given);
  if (!Number.isInteger(n) || n < 1) throw new Fault("invalid", `--${name} is a whole number from 1 on`);
  return n;
}
