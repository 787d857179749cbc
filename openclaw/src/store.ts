// `mode: remote` with the address of an OpenViking server: a daemon of this machine keeps its sessions there (store: openviking). The server is
// known by its answers, never by its port; once known, it may be away at the next start.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { resolveSecret, type Config } from "./config.js";
import { exchange } from "./http.js";

/** The OpenViking server behind the daemon. */
export interface Store {
  url: string;
  env: Record<string, string>;
}

/** openViking tells whether an OpenViking server answers at the configured address. */
export async function openViking(config: Config, timeoutMs: number): Promise<boolean> {
  try {
    const { status, text } = await exchange({ method: "GET", url: `${config.baseUrl}/health`, headers: {}, timeoutMs });
    const health = JSON.parse(text) as { healthy?: unknown; auth_mode?: unknown; version?: unknown };
    return status === 200 && health.healthy === true && typeof health.auth_mode === "string" && typeof health.version === "string";
  } catch {
    return false;
  }
}

/** The data folder of the daemon that belongs to the server at this address. */
const folder = (config: Config) => join(config.dataDir, `openviking-${createHash("sha256").update(config.baseUrl).digest("hex").slice(0, 12)}`);

/** knownStore tells whether such a daemon has run here before. */
export const knownStore = (config: Config) => existsSync(join(folder(config), "key"));

/** behind turns the configuration into that of a local daemon in front of the server. Its key and its names go to the daemon alone. */
export function behind(config: Config): void {
  const url = config.baseUrl;
  const env: Record<string, string> = {};
  const key = resolveSecret(config.apiKey);
  if (key) env.SKALD_STORE_KEY = key;
  if (config.accountId) env.SKALD_STORE_ACCOUNT = config.accountId;
  if (config.userId) env.SKALD_STORE_USER = config.userId;
  const dataDir = folder(config);
  const port = occupied(url) === config.storePort ? config.storePort + 1 : config.storePort;
  Object.assign(config, { mode: "local", dataDir, port, baseUrl: `http://127.0.0.1:${port}`, apiKey: undefined, accountId: undefined, userId: undefined, store: { url, env } });
}

/** The port that the server takes on this machine; 0 when it is elsewhere. */
function occupied(url: string): number {
  const { hostname, port } = new URL(url);
  return /^(localhost|127\.|\[::1\])/.test(hostname) ? Number(port) : 0;
}
