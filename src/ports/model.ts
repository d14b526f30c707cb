/**
 * A language model: one question, one answer. Failures are values with a class, because what to do next depends on the
 * class: wait, try the next model, shorten, or tell the human.
 */
import type { ModelSettings } from '../domain/agent/agent.js';
import type { ModelFailureClass } from '../domain/session/model-failure.js';
import type { Message, ToolCall } from '../domain/session/session.js';

export { MODEL_FAILURES, type ModelFailureClass } from '../domain/session/model-failure.js';

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments, an object. */
  parameters: JsonSchema;
}

export interface JsonSchema {
  type: 'object' | 'string' | 'integer' | 'number' | 'boolean' | 'array';
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  additionalProperties?: boolean;
}

export interface ModelRequest {
  /** `provider/model`, already resolved from aliases. */
  model: string;
  system: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  settings: ModelSettings;
  /** Who asks, for scripts, logs and accounting; never sent to a provider. */
  agent: string;
  task: string;
  /** 1 for the first model call of this conversation. */
  turn: number;
  signal?: AbortSignal;
  /** Text as it arrives. */
  onText?: (text: string) => void;
}

export interface ModelAnswer {
  text: string;
  toolCalls: ToolCall[];
  finish: 'stop' | 'tool_calls' | 'length' | 'filtered' | 'other';
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  microUsd: number;
  /** The price of the model is not known; microUsd is 0 then. */
  unpriced?: boolean;
}

export interface ModelFailure {
  class: ModelFailureClass;
  /** One sentence for a person: what happened, what to set and where. */
  message: string;
  /** What the server asked us to wait. */
  retryAfterMs?: number;
}

export type ModelReply = { ok: true; answer: ModelAnswer } | { ok: false; failure: ModelFailure };

export interface Model {
  /**
   * Exactly one try: no retries in here. Never rejects for anything a provider, network or script can do.
   * Resolves within the configured time-outs, and soon after `signal` aborts.
   */
  call(request: ModelRequest): Promise<ModelReply>;
}
