// What one assemble sends, and the result that the turn keeps.
import { withoutCommands } from "./command.js";
import type { AgentMessage, AssembleParams, AssembleResult } from "./host.js";
import type { AssembleAnswer } from "./wire.js";

const tailMessages = 12;
const tailBytes = 256 * 1024;

/** tailOf is the newest messages, so many as are few and small. */
export function tailOf(messages: AgentMessage[], most = tailMessages, bytes = tailBytes): AgentMessage[] {
  let start = messages.length;
  let size = 0;
  while (start > 0 && messages.length - start < most) {
    size += Buffer.byteLength(JSON.stringify(messages[start - 1]) ?? "");
    if (size > bytes && start < messages.length) break;
    start--;
  }
  return messages.slice(start);
}

/** The daemon's view of the host's parameters. */
export function assembleBody(params: AssembleParams, turnId: string, tail: AgentMessage[]) {
  const tools = params.availableTools && [...params.availableTools];
  return {
    prompt: params.prompt ?? "",
    token_budget: params.tokenBudget,
    model: params.model,
    provider: params.runtimeSettings?.model?.provider ?? undefined,
    available_tools: tools,
    no_tools: tools?.length === 0 || undefined,
    tool_search: tools?.includes("tool_call") || undefined,
    message_count: params.messages.length,
    tail: withoutCommands(tail, (m) => m as unknown),
    turn_id: turnId,
  };
}

/** View is a first result: later calls of the turn get the same bytes, whatever the host did to the objects. */
export class View {
  readonly text: string;
  readonly estimatedTokens: number;
  private readonly addition?: string;
  private readonly epoch?: string;

  constructor(answer: AssembleAnswer) {
    this.text = JSON.stringify(answer.messages ?? []);
    this.estimatedTokens = answer.estimated_tokens;
    this.addition = answer.system_prompt_addition;
    this.epoch = answer.projection_epoch;
  }

  result(): AssembleResult {
    return {
      messages: JSON.parse(this.text) as AgentMessage[],
      estimatedTokens: this.estimatedTokens,
      ...(this.addition ? { systemPromptAddition: this.addition } : {}),
      ...(this.epoch ? { contextProjection: { mode: "thread_bootstrap" as const, epoch: this.epoch } } : {}),
    };
  }
}
