/**
 * A folder that shows a workspace whose store is elsewhere. Every look first takes in a person's
 * changes, then shows the changes of others, so that no file is overwritten before it was read.
 * Only the mirror reads the mirrored records.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { disk } from '../../../adapters/disk/index.js';
import { fileTaint } from '../../../adapters/file-taint/index.js';
import { visible } from '../../../domain/consent/visible.js';
import { defined } from '../../../domain/defined.js';
import type { Event } from '../../../domain/event.js';
import type { BoundBase } from '../../../domain/task/approval.js';
import { INTERVALS } from '../../../domain/intervals.js';
import { ProblemError } from '../../../domain/problem.js';
import { TASK_STATES } from '../../../domain/task/task.js';
import type { Entry, Ledger } from '../../../ports/ledger.js';
import { noWorkspace } from '../../readers/no-workspace.js';
import { sumOf, TASK } from './rendered.js';
import { documentMirror } from './documents.js';
import { mirroredFolder, type Folder, type Writes } from './folder.js';
import { showEvents } from './history.js';
import { sessionMirror } from './sessions.js';
import { taskMirror, type MirrorContext } from './tasks.js';

interface MirrorOptions {
  root: string;
  ledger: Ledger;
  /** The name of the store. A folder of another store is refused. */
  workspace: string;
  /** The file, outside the folder, that says what was shown in it. */
  record: string;
  now(): Date;
  note(text: string): void;
  /** Only documents: a machine without a person needs nothing else. */
  documentsOnly?: boolean;
  /** The entry that its commits depend on; absent for a person's folder, which cannot be dead. */
  guard?: () => string | undefined;
  /** Receives each file that the mirror writes, and each event that is new here. */
  history?: (Writes & { happened(event: Event): void }) | undefined;
}

export interface Mirror {
  /** Takes in and shows changes. Returns the numbers of files. */
  look(): Promise<{ in: number; out: number }>;
}

/** How many ended tasks a new mirror shows; the store has the others. */
const MAX_ENDED = 1000;

export function mirror(options: MirrorOptions): Mirror {
  const { root, ledger, workspace, record, now, note, documentsOnly = false, guard = () => undefined } = options;
  const { history } = options;
  const name = randomUUID();
  let commits = 0;
  for (const state of TASK_STATES) fs.mkdirSync(path.join(root, 'tasks', state), { recursive: true });
  const folder = mirroredFolder(defined({ root, workspace, record, writes: history }));
  const refused = new Set<string>();
  const context: MirrorContext = {
    folder,
    ledger,
    nextId: () => `${name}.${++commits}`,
    guard,
    now,
    // The next task on another machine does not see a note that an agent deleted.
    deletedAfterMs: documentsOnly ? 0 : INTERVALS.deletionCheckMs,
    note,
    happened: history?.happened ?? (() => undefined),
    refuse(file) {
      if (refused.has(file)) return;
      refused.add(file);
      note(`the store has ${visible(file)}, which is not shown: it cannot be a file of this folder`);
    },
    taint: fileTaint({ root, disk: disk(), baseOf: (file) => baseIn(folder, file) }),
  };
  const tasks = documentsOnly ? undefined : taskMirror(context);
  const sessions = documentsOnly ? undefined : sessionMirror(context);
  const documents = documentMirror(context);
  let isFirst = true;
  /** Each change is reported only once, so it is kept until a look can show it. */
  let unshown: Entry[] = [];
  /** Whether entries that are not live may have changed unseen. */
  let isBehind = false;
  let last: Promise<unknown> = Promise.resolve();

  return {
    /** One look at a time: two at once would take in the same file twice. */
    look() {
      const look = last.then(once);
      last = look.catch(() => undefined);
      return look;
    },
  };

  async function once(): Promise<{ in: number; out: number }> {
    if (!fs.existsSync(root)) throw new ProblemError(noWorkspace(root, false));
    const taken = [await tasks?.takeIn(), await sessions?.takeIn(), isFirst ? 0 : await documents.takeIn()];
    const news = await ledger.news();
    unshown.push(...news.entries);
    isBehind ||= news.isComplete;
    const entries = [...unshown];
    if (isBehind) {
      entries.push(...(await documents.all()));
      if (tasks !== undefined)
        entries.push(...(await ledger.list(TASK, { live: false, limit: MAX_ENDED })).toReversed());
    }
    const shown = [tasks?.show(entries), documents.show(entries), await sessions?.show()];
    sessions?.showStatus(entries);
    unshown = [];
    isBehind = false;
    if (!documentsOnly) shown.push(await showEvents(context));
    if (isFirst) taken.push(await documents.takeIn());
    isFirst = false;
    folder.save();
    return { in: sum(taken), out: sum(shown) };
  }
}

/** The hash of the file as it is now, for the record of where files come from. */
function baseIn(folder: Folder, file: string): BoundBase | undefined {
  if (!folder.canHold(file)) return undefined;
  return { path: file, sha256: folder.exists(file) ? sumOf(fs.readFileSync(path.join(folder.root, file))) : 'missing' };
}

function sum(counts: readonly (number | undefined)[]): number {
  return counts.reduce<number>((all, count) => all + (count ?? 0), 0);
}
