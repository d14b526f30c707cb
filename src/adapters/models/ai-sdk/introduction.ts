/** Headers that tell `guild model-server` who asks; only for a server on this machine. */
import type { ModelRequest } from '../../../ports/model.js';

export function introduction({ agent, task, turn }: ModelRequest): Record<string, string> {
  return { 'x-guild-agent': agent, 'x-guild-task': task, 'x-guild-turn': String(turn) };
}
