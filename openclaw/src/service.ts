// The gateway's service: the daemon is there when the gateway is, and drains when it stops.
import { within, type Client } from "./client.js";
import type { Daemon } from "./daemon.js";
import { hint } from "./hooks.js";
import type { PluginApi } from "./host.js";
import { pluginId } from "./build.js";

const startMs = 5000;

export function registerService(api: PluginApi, client: Client, daemon: Daemon): void {
  api.registerService?.({
    id: pluginId,
    start: async () => {
      daemon.wanted();
      await daemon.ensure(within(startMs)).catch(() => {}); // warned about already
    },
    stop: async () => {
      await hint(client, "gateway_stop", {}, "service stopped");
      await daemon.stop();
    },
  });
}
