/** Adds to and lists the inbox of a workspace, without an engine. */
import path from 'node:path';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { inbox } from '../../adapters/inbox/index.js';
import type { Mail } from '../../domain/coordination/mail.js';
import { defined } from '../../domain/defined.js';
import { problemError } from '../../domain/problem.js';
import type { Inbox } from '../../ports/inbox.js';
import { requireWorkspace } from './no-workspace.js';

interface NewMail {
  text: string;
  from?: string | undefined;
  /** The service it came from, and optionally the place there: `slack`, `slack #ops`. */
  channel?: string | undefined;
  to?: string | undefined;
}

type ListedMail = Mail & { taken: boolean };

/** Durable when resolved; returns the file. */
export async function addMail(root: string, { text, from, channel, to }: NewMail, at = new Date()): Promise<string> {
  if (text.trim() === '') throw problemError('bad_usage', 'a message needs text');
  const [service, ...place] = (channel ?? '').trim().split(/\s+/);
  if (service && !/^[A-Za-z0-9]{1,40}$/.test(service)) {
    const hint = 'name the service, then the place: "slack #ops"';
    throw problemError('bad_usage', `${JSON.stringify(service)} is not a valid service name`, { hint });
  }
  const file = service ? `${service.toLowerCase()}-messages.jsonl` : 'messages.jsonl';
  await open(root).append(
    file,
    defined({
      ts: at.toISOString(),
      from: from ?? 'human',
      channel: place.length > 0 ? place.join(' ') : undefined,
      to: to || undefined,
      text,
    }),
  );
  return `inbox/${file}`;
}

export function listMail(root: string): Promise<ListedMail[]> {
  return open(root).all();
}

function open(folder: string): Inbox {
  const root = path.resolve(folder);
  const disk = realDisk();
  requireWorkspace(disk, root);
  return inbox({ root, disk });
}
