/** A proven call as a line of the inbox. Its agent comes from guild.yaml, never from the call. */
import { isMapping } from '../domain/mapping.js';
const NAMED = ['from', 'subject', 'thread'] as const;

interface Call {
  id: string;
  body: string;
  at: Date;
  agent?: string;
  /** The kind of event, if the sender names it in a header. */
  event?: string | undefined;
}

export function lineOf({ id, body, at, agent, event }: Call): Record<string, unknown> {
  const json = parsed(body);
  const text = typeof json?.['text'] === 'string' && json['text'].trim() !== '' ? json['text'] : pretty(json, body);
  const line: Record<string, unknown> = { id, ts: at.toISOString(), from: 'webhook' };
  if (event !== undefined) line['subject'] = event.slice(0, 100);
  for (const name of NAMED) if (typeof json?.[name] === 'string') line[name] = json[name];
  if (agent !== undefined) line['to'] = agent;
  return { ...line, text };
}

function parsed(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isMapping(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function pretty(json: Record<string, unknown> | undefined, body: string): string {
  return json === undefined ? body : JSON.stringify(json, null, 1);
}
