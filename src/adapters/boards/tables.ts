/**
 * The tables of a workspace and their columns. Rows may have more: task files keep unknown keys,
 * and events carry details of their kind.
 */
import type { Task } from '../../domain/task/task.js';

/** A record, so that the compiler reports a missing key. */
const TASK: Record<Exclude<keyof Task, 'extra'>, true> = {
  id: true,
  parent: true,
  root: true,
  depth: true,
  role: true,
  type: true,
  description: true,
  to: true,
  from: true,
  requirements: true,
  dependencies: true,
  attachments: true,
  context: true,
  priority: true,
  schedule: true,
  budget: true,
  created_by: true,
  created_at: true,
  claimed_by: true,
  claimed_at: true,
  retries: true,
  attempts: true,
  lost: true,
  session: true,
  written: true,
  waits: true,
  bids: true,
  result: true,
  error: true,
  ended_at: true,
  certificate: true,
  usage: true,
  own_usage: true,
  version: true,
};

const words = (text: string): string[] => text.trim().split(/\s+/);

export const TABLES = {
  tasks: [...Object.keys(TASK), ...words('state completed failed in_progress held_by')],
  sessions: words('id agent type model status task created messages updated problem'),
  agents: words('name description models tools agents capabilities expertise priority type format file'),
  events: words(`at name task agent peer cause parent root role session turn model calls input_tokens output_tokens
    cached_tokens micro_usd unpriced ms class message wait_ms tool ok approved action why error problem usage waits scores
    attempts messages kind type urgency deadline status by reason edited added changed removed diff`),
} as const satisfies Record<string, readonly string[]>;
