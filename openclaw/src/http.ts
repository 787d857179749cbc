// One HTTP exchange. Node's own client rather than fetch, which a host may route through a proxy.
import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { Fault } from "./fault.js";

export interface Exchange {
  method: "GET" | "POST";
  url: string;
  headers: Record<string, string>;
  /** JSON, or a body that is read while it is sent. */
  body?: string | Streamed;
  timeoutMs: number;
  signal?: AbortSignal;
}

/** A body of known length that is too large to be held. */
export interface Streamed {
  type: string;
  length: number;
  parts(): AsyncIterable<Buffer>;
}

/** exchange sends one request and returns status and text. */
export function exchange(x: Exchange): Promise<{ status: number; text: string }> {
  const url = new URL(x.url);
  const tls = url.protocol === "https:";
  const streamed = typeof x.body === "object" ? x.body : undefined;
  const bytes = typeof x.body === "string" ? Buffer.from(x.body, "utf8") : undefined;
  const headers: Record<string, string> = { ...x.headers, accept: "application/json" };
  if (bytes) Object.assign(headers, { "content-type": "application/json", "content-length": String(bytes.length) });
  if (streamed) Object.assign(headers, { "content-type": streamed.type, "content-length": String(streamed.length) });

  return new Promise((resolve, reject) => {
    const request = (tls ? https : http).request(url, { method: x.method, headers, agent: tls ? undefined : false });
    let timer: NodeJS.Timeout | undefined;
    const stop = (error?: Error) => {
      clearTimeout(timer);
      x.signal?.removeEventListener("abort", abort);
      if (!error) return;
      reject(error);
      request.destroy();
    };
    const abort = () => stop(new Fault("cancelled", "the host cancelled the request"));
    timer = setTimeout(() => stop(new Fault("unavailable", `no answer within ${x.timeoutMs} ms`, "ETIMEDOUT")), x.timeoutMs);
    const broken = (error: NodeJS.ErrnoException) => stop(new Fault("unavailable", error.message || String(error.code), error.code));

    request.on("error", broken);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", broken);
      response.on("end", () => {
        stop();
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") });
      });
    });
    if (x.signal?.aborted) return abort();
    x.signal?.addEventListener("abort", abort, { once: true });
    if (!streamed) return void request.end(bytes);
    const source = Readable.from(streamed.parts());
    source.on("error", broken);
    request.on("close", () => source.destroy());
    source.pipe(request);
  });
}
