/**
 * A language model: one request, one reply. Failures are values with a class, because the class
 * decides what happens next: wait, use another model, shorten the conversation, or ask the human.
 */
import type { ModelSettings } from '../domain/agent/agent.js';
import type { ModelFailureClass } from '../domain/session/model-failure.js';
import type { Message, ProviderData, ToolCall } from '../domain/session/session.js';

export type { ModelFailureClass } from '../domain/session/model-failure.js';

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
  /** For a text: an object is accepted, too. Never sent to a provider. */
  alsoObject?: boolean;
}

export interface ModelRequest {
  /** `provider/model`, already resolved from aliases. */
  model: string;
  system: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  settings: ModelSettings;
  /** `none`: no tool may be called. A name: this tool must be called, if that can be forced. */
  toolChoice?: 'none' | { tool: string };
  /**
   * An answer in text must be JSON that fits this schema. Providers that support it enforce the
   * schema.
   */
  format?: JsonSchema;
  /** For scripts, logs and accounting; never sent to a provider. */
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
  /** Input tokens that the provider put into its cache, if it says so. */
  writtenTokens?: number;
  microUsd: number;
  /** The price of the model is unknown, and microUsd is 0. */
  unpriced?: boolean;
  /** Kept with the message, because the provider wants it back. */
  provider?: ProviderData;
}

export interface ModelFailure {
  class: ModelFailureClass;
  /** One sentence for a person: what happened, what to set and where. */
  message: string;
  /** How long the server asked us to wait. */
  retryAfterMs?: number;
}

export type ModelReply = { ok: true; answer: ModelAnswer } | { ok: false; failure: ModelFailure };

export interface Model {
  /**
   * Exactly one attempt, without retries. Never rejects because of a provider, the network or a
   * script. Resolves within the configured time-outs, and soon after `signal` aborts.
   */
  call(request: ModelRequest): Promise<ModelReply>;
}
