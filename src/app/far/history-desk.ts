/**
 * The desk that keeps the history of a shared store: one mirrored folder, which the store names.
 * The name stays when the desk stops, because the history is still there; another desk may then
 * take over.
 */
import fs from 'node:fs';
import { attempt } from '../../domain/attempt.js';
import { visible } from '../../domain/consent/visible.js';
import { problem, ProblemError, problemError } from '../../domain/problem.js';
import type { Ledger } from '../../ports/ledger.js';

const KEY = 'desk/history';

export interface HistoryDesk {
  /** The person and the machine, as text to show: `ana@laptop`. */
  by: string;
  host: string;
  folder: string;
  /** The process that keeps it. */
  peer: string;
}

interface Named {
  desk: HistoryDesk;
  isRunning: boolean;
}

/** Undefined: no desk ever kept it. */
export async function readHistoryDesk(ledger: Pick<Ledger, 'get'>): Promise<Named | undefined> {
  const desk = parse((await ledger.get(KEY))?.value ?? '');
  return desk && { desk, isRunning: (await ledger.get(`peer/${desk.peer}`))?.live === true };
}

/**
 * Makes this desk the one that keeps history. Its process must have joined. Throws a ProblemError
 * if another running desk keeps it. The same folder may take over from itself, because a killed
 * process counts as running until its lease ends.
 */
export async function takeHistory(
  ledger: Pick<Ledger, 'get' | 'commit'>,
  own: HistoryDesk,
  nextId: () => string,
): Promise<void> {
  for (;;) {
    const held = await ledger.get(KEY);
    const named = await readHistoryDesk({ get: async (key) => (key === KEY ? held : ledger.get(key)) });
    if (named?.isRunning && !isAt(named.desk, own)) throw new ProblemError(taken(named.desk));
    const put = { key: KEY, value: JSON.stringify(own), expect: held?.rev ?? 0, live: false };
    const answer = await ledger.commit(nextId(), { puts: [put], adds: [] }, `peer/${own.peer}`);
    if (answer === 'fenced') throw problemError('store_away', 'this process was declared dead');
    if (answer.puts[0] !== undefined) return;
  }
}

export function isAt({ host, folder }: HistoryDesk, place: Pick<HistoryDesk, 'host' | 'folder'>): boolean {
  return host === place.host && folder === place.folder;
}

/** A name of the folder that does not depend on the path that leads to it. */
export function folderName(root: string): string {
  return attempt(() => fs.realpathSync(root)) ?? root;
}

/** Why a command about history does not work in this folder, and where it does. */
export function historyIsElsewhere(named: Named | undefined): string {
  if (named === undefined)
    return 'the work is in a shared store, and no desk keeps its history; guild sync DIR --history starts that';
  const rest = named.isRunning ? '' : ', where guild sync --history does not run now';
  return `the work is in a shared store, whose history is kept by ${whereIs(named.desk)}${rest}`;
}

function taken(desk: HistoryDesk): ReturnType<typeof problem> {
  return problem('store_refused', `the history of this store is already kept by ${whereIs(desk)}`, {
    hint: 'sync without --history, or stop it there first; one that was killed counts as gone after its lease',
  });
}

function whereIs({ by, folder }: HistoryDesk): string {
  return `${visible(by)} in ${visible(folder)}`;
}

/** Any worker can write the entry. */
function parse(value: string): HistoryDesk | undefined {
  const { by, host, folder, peer } = attempt(() => JSON.parse(value) as Partial<HistoryDesk> | null) ?? {};
  const isWhole = [by, host, folder, peer].every((part) => typeof part === 'string');
  return isWhole ? { by: by!, host: host!, folder: folder!, peer: peer! } : undefined;
}
