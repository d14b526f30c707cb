/** Actions that ran without approval and that the policy wants a person to know of. */
import type { Event } from '../../../domain/event.js';
import { readEvents } from './open-events.js';

const SHOWN = 20;

interface Notice {
  at: string;
  agent: string;
  tool: string;
  action: Record<string, unknown>;
  why: string[];
}

/** The notices since then, oldest first; at most the last 20. */
export async function noticesSince(root: string, since: Date): Promise<Notice[]> {
  const from = since.toISOString();
  return (await readEvents(root))
    .events((name) => name === 'human.notified', { limit: SHOWN })
    .filter(({ at }) => at >= from)
    .map(noticeOf);
}

function noticeOf({ at, agent = '', tool, action, why }: Event): Notice {
  const isMapping = typeof action === 'object' && action !== null;
  return {
    at,
    agent,
    tool: String(tool),
    action: isMapping ? (action as Record<string, unknown>) : {},
    why: Array.isArray(why) ? why.map(String) : [],
  };
}
