// What the model sees when the daemon cannot be asked: the host's own messages, so far as they fit.
import type { AgentMessage, AssembleResult } from "./host.js";
import { countTokens } from "./tokens.js";

/** ownMessages keeps the host's messages. A blank reply at the end goes; a completed one stays. An owning engine is handed the
 * whole history, so what exceeds the budget yields, oldest exchanges first. */
export function ownMessages(messages: AgentMessage[], budget?: number): AssembleResult {
  let end = messages.length;
  while (end > 0 && blankReply(messages[end - 1])) end--;
  const kept = messages.slice(0, end);
  const counts = kept.map((message) => countTokens([message]));
  let total = counts.reduce((a, b) => a + b, 0);
  let start = 0;
  while (budget && total > budget) {
    const next = kept.findIndex((message, i) => i > start && message?.role === "user");
    if (next < 0) break;
    for (; start < next; start++) total -= counts[start] as number;
  }
  return { messages: kept.slice(start), estimatedTokens: total };
}

function blankReply(message: AgentMessage): boolean {
  if (message?.role !== "assistant") return false;
  const { content } = message;
  if (typeof content === "string") return !content.trim();
  if (!Array.isArray(content)) return content === undefined || content === null;
  return content.every((block) => block?.type === "text" && !String(block.text ?? "").trim());
}
