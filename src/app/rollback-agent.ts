/** Brings an agent's own folder back to one of its commits. Each command an agent runs leaves one. */
import { shell } from '../adapters/shell/index.js';
import type { Rollback } from '../ports/shell.js';

export function rollbackAgent(
  root: string,
  agent: string,
  commit: string,
  env: Record<string, string | undefined>,
): Promise<Rollback> {
  return shell({ root, env }).rollback(agent, commit);
}
