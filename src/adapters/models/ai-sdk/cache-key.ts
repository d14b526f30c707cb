/**
 * The key that sends calls of one agent to the same cache. It is a hash, because the provider need
 * not learn the names of agents.
 */
import { createHash } from 'node:crypto';
import type { ModelRequest } from '../../../ports/model.js';

export function cacheKey({ agent }: Pick<ModelRequest, 'agent'>): string {
  return createHash('sha256').update(agent).digest('hex').slice(0, 16);
}
