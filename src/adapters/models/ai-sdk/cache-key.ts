/**
 * The key that sends calls of one agent to the same cache. It is a hash, because names of agents
 * are nobody else's business.
 */
import { createHash } from 'node:crypto';
import type { ModelRequest } from '../../../ports/model.js';

export function cacheKey({ agent }: Pick<ModelRequest, 'agent'>): string {
  return createHash('sha256').update(agent).digest('hex').slice(0, 16);
}
