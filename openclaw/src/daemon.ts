// Finding, starting and stopping the daemon.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { findBinary } from "./binary.js";
import { hello, left, type Deadline, type Handshake } from "./client.js";
import type { Config } from "./config.js";
import { asFault, Fault } from "./fault.js";
import type { Logger } from "./host.js";
import { link, settle, warnOnce } from "./process.js";
import { defaultAgent } from "./session.js";
import { behind, knownStore, openViking } from "./store.js";

const helloMs = 1000;
const startMs = 3000;
const stopMs = 6000;
const restartAfterMs = 30_000; // between two attempts to start a daemon
const quietMs: Record<string, number> = { ETIMEDOUT: 3000, protocol: 60_000 }; // after such a failure, fail at once for so long

/** Daemon makes sure that a skald daemon answers, in local mode by starting it. One attempt at a time in the whole process. */
export class Daemon {
  /** The configured address, under which the host's services are counted; the daemon's own may be another (store.ts). */
  private readonly home: string;

  constructor(
    private readonly config: Config,
    private readonly log: Logger,
    private readonly rootDir?: string,
  ) {
    this.home = config.baseUrl;
  }

  /** ensure returns the daemon's handshake, or throws a Fault within the deadline. The attempt itself goes on. */
  async ensure(d: Deadline): Promise<Handshake> {
    const state = link(this.config.baseUrl);
    if (state.failure && Date.now() < (state.quietUntil ?? 0)) throw state.failure;
    state.hello ??= this.connect().then(
      (handshake) => {
        state.failure = undefined;
        if (settle(this.key)) this.log.info(`skald: connected to skald ${handshake.version} at ${this.config.baseUrl}`);
        return handshake;
      },
      (error: unknown) => {
        state.hello = undefined;
        const fault = asFault(error);
        const quiet = quietMs[fault.code] ?? quietMs[fault.kind];
        if (quiet) [state.failure, state.quietUntil] = [fault, Date.now() + quiet];
        warnOnce(this.log, this.key, `skald: ${fault.message}. The agent goes on with the host's own messages.`);
        throw fault;
      },
    );
    return (await limited(state.hello, left(d))) as Handshake;
  }

  private get key() {
    return `daemon ${this.config.baseUrl}`;
  }

  private async connect(): Promise<Handshake> {
    const agent = defaultAgent(this.config);
    try {
      return await hello(this.config, agent, helloMs);
    } catch (error) {
      const fault = asFault(error);
      if (this.config.mode === "remote" && (fault.kind === "not_skald" ? await openViking(this.config, helloMs) : knownStore(this.config))) {
        this.log.info(`skald: ${this.config.baseUrl} is an OpenViking server: a skald daemon of this machine keeps its sessions there`);
        behind(this.config);
        return this.connect();
      }
      if (fault.code !== "ECONNREFUSED") throw fault;
      if (this.config.mode !== "local" || !this.config.autoStart) {
        throw new Fault("unavailable", `no skald daemon at ${this.config.baseUrl}; start it with \`skald serve\``, fault.code);
      }
    }
    const state = link(this.config.baseUrl);
    if (link(this.home).services === 0) { // a late call while the host unloads the plugin must not leave a daemon behind
      throw new Fault("unavailable", "the gateway has stopped the skald daemon", "ECONNREFUSED");
    }
    if (Date.now() - (state.startedAt ?? 0) < restartAfterMs) {
      throw new Fault("unavailable", `the skald daemon does not run; see ${join(this.config.dataDir, "daemon.log")}`, "ECONNREFUSED");
    }
    state.startedAt = Date.now();
    this.start();
    return this.wait(agent);
  }

  private start(): void {
    const { config } = this;
    const binary = findBinary(config, this.rootDir);
    if (!binary) {
      throw new Fault("unavailable", "no skald binary found: put `skald` on the PATH, or set SKALD_BIN or the plugin's `binary`; `mode: remote` with `baseUrl` uses a daemon elsewhere", "ECONNREFUSED");
    }
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
    const out = openSync(join(config.dataDir, "daemon.log"), "a", 0o600);
    try {
      const args = ["serve", "--data", config.dataDir, "--listen", `127.0.0.1:${config.port}`];
      if (config.store) args.push("--store", "openviking", "--store-url", config.store.url);
      const env = { ...daemonEnv(process.env), ...config.store?.env };
      const child = spawn(binary, args, { detached: true, stdio: ["ignore", out, out], env, cwd: config.dataDir });
      child.on("error", (error) => this.log.warn(`skald: ${binary} could not be started: ${error.message}`));
      child.unref();
      link(config.baseUrl).child = child;
    } finally {
      closeSync(out);
    }
  }

  private async wait(agent: string): Promise<Handshake> {
    const end = Date.now() + startMs;
    for (;;) {
      await sleep(50);
      try {
        const handshake = await hello(this.config, agent, helloMs);
        this.log.info(`skald: started skald ${handshake.version} at ${this.config.baseUrl}`);
        return handshake;
      } catch (error) {
        if (Date.now() < end) continue;
        const code = link(this.config.baseUrl).child?.exitCode;
        const how = code === null || code === undefined ? "" : ` (it ended with code ${code})`;
        throw new Fault("unavailable", `the skald daemon did not answer in time${how}: ${asFault(error).message}; see ${join(this.config.dataDir, "daemon.log")}`, "ECONNREFUSED");
      }
    }
  }

  /** wanted counts a service of the host in: the daemon runs while there is one. */
  wanted(): void {
    const state = link(this.home);
    state.services = (state.services ?? 0) + 1;
  }

  /** stop ends the daemon that this process started, and lets it drain. One started by others stays. */
  async stop(): Promise<void> {
    const home = link(this.home);
    home.services = Math.max(0, (home.services ?? 1) - 1);
    if (home.services > 0) return; // a reload has started the next one already
    const state = link(this.config.baseUrl);
    const child = state.child;
    state.child = state.hello = state.startedAt = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGTERM");
    await limited(gone, stopMs).catch(() => this.log.warn(`skald: the daemon (pid ${child.pid}) is still finishing its work`));
  }
}

/** daemonEnv leaves the host's keys behind: the daemon gets what a program needs, and what is meant for it. */
export function daemonEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const wanted = /^(SKALD_.*|PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|XDG_.*|SSL_CERT_.*|(https?|no|all)_proxy|SYSTEMROOT|USERPROFILE|APPDATA|LOCALAPPDATA)$/i;
  return Object.fromEntries(Object.entries(env).filter(([name]) => wanted.test(name)));
}

/** limited waits for a promise, at most so long. The promise itself goes on. */
export async function limited<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Fault("unavailable", "no answer in time", "ETIMEDOUT")), Math.max(0, ms));
  });
  promise.catch(() => {}); // an attempt that fails after its caller has gone is not an unhandled rejection
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
