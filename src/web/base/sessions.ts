/** The list of conversations. Only the head of each file is read: a list needs no messages. */
import fs from 'node:fs';
import path from 'node:path';
import { sessionStatus } from '../../app/far/session-text.js';
import { farPartsOf } from '../../app/readers/open-reader.js';
import { defined } from '../../domain/defined.js';
import { compareText } from '../../domain/order.js';
import type { SessionHeader } from '../../domain/session/session.js';
import type { SessionRow } from './contract.js';
import type { Feed } from './feed.js';
import { titleOf } from './title.js';
import { turnsForOthers } from './turns.js';

export const SESSIONS_AT_ONCE = 200;

/** By the time of their last change, the newest first. `from`: how many newer ones are left out. */
export async function sessionList({ root, states }: Feed, from = 0): Promise<SessionRow[]> {
  const to = from + SESSIONS_AT_ONCE;
  if (farPartsOf(states.store) !== undefined) return (await sharedList(states.store)).slice(from, to);
  return (await sessionNames(root))
    .slice(from, to)
    .map(({ id, at }) => rowFrom(path.join(root, sessionFile(id)), id, at));
}

/** The conversations in files, the last one that changed first. */
export async function sessionNames(root: string): Promise<{ id: string; at: number }[]> {
  const folder = path.join(root, 'sessions');
  const found: { id: string; at: number }[] = [];
  const turn = turnsForOthers();
  for (const name of fs.readdirSync(folder)) {
    if (!name.endsWith(SUFFIX)) continue;
    const at = fs.statSync(path.join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    found.push({ id: name.slice(0, -SUFFIX.length), at });
    await turn();
  }
  return found.sort((a, b) => b.at - a.at);
}

async function sharedList({ sessions, tasks }: Feed['states']['store']): Promise<SessionRow[]> {
  const rows: SessionRow[] = [];
  for (const id of await sessions.list()) {
    const opened = await sessions.open(id);
    if (opened.kind !== 'open') continue;
    const { header, messages } = opened.session;
    const title = messages[0]?.content.split('\n')[0];
    rows.push({
      id,
      agent: header.agentId,
      status: await statusIn(tasks, header),
      task: header.task,
      title: title && titleOf(title),
      forkedFrom: header.forkedFrom,
      created: messages.at(-1)?.timestamp ?? header.created,
    });
  }
  return rows.sort((a, b) => compareText(b.created, a.created));
}

/** A shared store keeps no status for it: it is derived from the task. */
async function statusIn({ read }: Feed['states']['store']['tasks'], header: SessionHeader): Promise<string> {
  const placed = header.task === undefined ? undefined : await read(header.task);
  return placed === undefined ? header.status : sessionStatus(placed);
}

const SUFFIX = '.session.yaml';

/** Relative to the workspace. */
export function sessionFile(id: string): string {
  return `sessions/${path.basename(id)}${SUFFIX}`;
}

const HEAD_BYTES = 2048;

function rowFrom(file: string, id: string, at: number): SessionRow {
  const head = headOf(file);
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}: *['"]?([^'"\\n]+?)['"]? *$`, 'm').exec(head)?.[1];
  const title = /^ +content: *(?:[|>][\d+-]* *\n+ +)?['"]?([^\n]+?)['"]?$/m.exec(head)?.[1];
  return defined({
    id,
    agent: field('agent_id') ?? '',
    status: field('status') ?? '',
    task: field('task') === undefined ? undefined : field('task')!,
    title: title === undefined ? undefined : titleOf(title),
    forkedFrom: field('forked_from') === undefined ? undefined : field('forked_from')!,
    created: new Date(at).toISOString(),
  });
}

function headOf(file: string): string {
  try {
    const open = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(HEAD_BYTES);
      return bytes.subarray(0, fs.readSync(open, bytes, 0, HEAD_BYTES, 0)).toString('utf8');
    } finally {
      fs.closeSync(open);
    }
  } catch {
    return ''; // it went away, or may not be read
  }
}
