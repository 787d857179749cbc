// What `openclaw gateway call skald.status` answers: the daemon's state and the plugin's own health.
import { pluginId, pluginVersion, protocolVersion } from "./build.js";
import { within, type Client } from "./client.js";
import type { Daemon } from "./daemon.js";
import { asFault } from "./fault.js";
import type { PluginApi } from "./host.js";
import { warnings } from "./process.js";
import { defaultAgent } from "./session.js";
import { hostName, lacking, unused } from "./slot.js";

const statusMs = 5000;

export function registerStatus(api: PluginApi, client: Client, daemon: Daemon): void {
  api.registerGatewayMethod?.("skald.status", async ({ respond }) => respond(true, await status(api, client, daemon)), { scope: "operator.read" });
}

async function status(api: PluginApi, client: Client, daemon: Daemon): Promise<object> {
  const { config } = client;
  const d = within(statusMs);
  const plugin = {
    id: pluginId,
    version: pluginVersion,
    protocol: protocolVersion,
    mode: config.mode,
    url: config.baseUrl,
    store: config.store?.url,
    engine: unused(api) || "selected",
    host: lacking(api) || hostName(api),
    configuration: config.problems,
    warnings: warnings().map(({ text, count, last }) => ({ text, count, last: new Date(last).toISOString() })),
  };
  try {
    const { name, version, protocol, instance, pid } = await daemon.ensure(d);
    const answer = await client.get<object>("/engine/v1/status", { agent: defaultAgent(config) }, d).catch(() => undefined);
    return { ok: true, plugin, daemon: { name, version, protocol, instance, pid }, status: answer };
  } catch (error) {
    return { ok: false, plugin, daemon: { error: asFault(error).message } };
  }
}
