/** Who asks, in headers: scripts choose their line by agent and task, which no provider sees. */
import { isMapping } from '../../../../domain/mapping.js';
import type { IncomingHttpHeaders } from 'node:http';
import type { Message } from '../../../../domain/session/session.js';
import type { JsonSchema, ModelRequest, ToolSpec } from '../../../../ports/model.js';
import { stringOf } from './json.js';

export function introduction(
  model: string,
  messages: readonly Message[],
  headers: IncomingHttpHeaders,
): Pick<ModelRequest, 'model' | 'settings' | 'agent' | 'task' | 'turn'> {
  return {
    model,
    settings: {},
    agent: stringOf(headers['x-guild-agent']) || model,
    task: stringOf(headers['x-guild-task']) || 'http',
    turn: Number(headers['x-guild-turn']) || messages.filter(({ role }) => role === 'assistant').length + 1,
  };
}

export function toolSpec(name: unknown, description: unknown, parameters: unknown): ToolSpec {
  return {
    name: stringOf(name),
    description: stringOf(description),
    parameters: isMapping(parameters) ? (parameters as unknown as JsonSchema) : { type: 'object' },
  };
}
