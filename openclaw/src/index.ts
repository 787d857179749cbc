// The plugin's entry: registration only. Nothing is read or started here that a listing of plugins should not touch.
import { pluginDescription, pluginId, pluginName, pluginVersion } from "./build.js";
import { Client, within } from "./client.js";
import { parseConfig } from "./config.js";
import { Daemon } from "./daemon.js";
import { registerBypassNotice } from "./bypass.js";
import { registerCommand } from "./command.js";
import { registerCommands } from "./commands.js";
import { SkaldEngine } from "./engine.js";
import { registerFallback, registerHints } from "./hooks.js";
import type { PluginApi } from "./host.js";
import { warnOnce } from "./process.js";
import { registerService } from "./service.js";
import { lacking } from "./slot.js";
import { registerStatus } from "./status.js";
import { offered, registerTools } from "./tools.js";
import { loadReader } from "./transcript.js";

const readyMs = 3500; // a daemon that has to be started first

function register(api: PluginApi): void {
  const config = parseConfig(api.pluginConfig);
  for (const problem of config.problems) warnOnce(api.logger, `config ${problem}`, `skald: configuration: ${problem}`);
  const daemon = new Daemon(config, api.logger, api.rootDir);
  const client = new Client(config, api.logger, (d) => daemon.ensure(d));

  registerTools(api, client, offered(config, pluginId === "openviking"));
  registerHints(api, client);
  registerCommand(api, client);
  registerCommands(api, client);
  registerStatus(api, client, daemon);
  registerService(api, client, daemon);

  const lacks = lacking(api);
  if (lacks) warnOnce(api.logger, "host", `skald: ${lacks}`);
  if (api.registerContextEngine) {
    registerBypassNotice(api, client);
    api.registerContextEngine(pluginId, async (ctx) => {
      // Services do not start under `agent --local`, so the engine looks for the daemon too.
      await daemon.ensure(within(readyMs)).catch(() => {});
      return new SkaldEngine(client, loadReader, ctx.config, !lacks);
    });
  } else {
    registerFallback(api, client);
  }
}

export default { id: pluginId, name: pluginName, description: pluginDescription, version: pluginVersion, kind: "context-engine" as const, register };
