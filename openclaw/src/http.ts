// One HTTP exchange. Node's own client rather than fetch, which a host may route through a proxy.
import http from "node:http";
import https from "node:https";
import { Fault } from "./fault.js";

export interface Exchange {
  method: "GET" | "POST";
  url: string;
  headers: Record<string, string>;
  body?: string;
  timeoutMs: number;
  signal?: AbortSignal;
}

/** exchange sends one request and returns status and text. */
export function exchange(x: Exchange): Promise<{ status: number; text: string }> {
  const url = new URL(x.url);
  const tls = url.protocol === "https:";
  const bytes = x.body === undefined ? undefined : Buffer.from(x.body, "utf8");
  const headers: Record<string, string> = { ...x.headers, accept: "application/json" };
  if (bytes) Object.assign(headers, { "content-type": "application/json", "content-length": String(bytes.length) });

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
    request.end(bytes);
  });
}
