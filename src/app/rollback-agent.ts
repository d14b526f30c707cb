/**
 * Resets an agent's own folder to one of its commits. Each command that an agent runs makes one.
 */
import { shell } from '../adapters/shell/index.js';
import type { Env } from '../domain/config/env.js';
import type { Rollback } from '../ports/shell.js';

export function rollbackAgent(root: string, agent: string, commit: string, env: Env): Promise<Rollback> {
  return shell({ root, env }).rollback(agent, commit);
}
