// The host's own estimate of tokens, used only when the daemon cannot be asked.

/** countTokens estimates the tokens of messages in their serialised form. */
export function countTokens(messages: readonly unknown[]): number {
  return messages.reduce<number>((sum, message) => sum + textTokens(JSON.stringify(message) ?? ""), 0);
}

const wide = /[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]/;

function textTokens(text: string): number {
  let sum = 0;
  for (const c of text) sum += c.length > 1 ? 2 : c > "\u10ff" && wide.test(c) ? 1.5 : 0.25;
  return Math.ceil(sum);
}
