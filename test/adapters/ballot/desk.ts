/** A ballot on a simulated disk, and a person who saves it. */
import { ballot } from '../../../src/adapters/ballot/index.js';
import type { Approval } from '../../../src/domain/task/approval.js';
import { consent } from '../../../src/adapters/consent/index.js';
import type { Consent } from '../../../src/ports/consent/index.js';
import type { Disk } from '../../../src/ports/disk.js';
import type { Ballot, BallotReading } from '../../../src/ports/ballot.js';
import { simClock, type SimClock } from '../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';

export const FILE = '/w/tasks/approvals.task.md';

export function approval(id: string, command = `make ${id}`, digest = `${id}-0123456789abcdef`): Approval {
  return {
    id,
    title: `Approve command: ${command}`,
    created: '2026-01-01T00:00:00.000Z',
    request: {
      tool: 'execute_command',
      arguments: { command },
      digest,
      agent: 'ana',
      session: `ana-${id}`,
      call: id,
      reasons: ['it is not on the list'],
      risk: 'LOW',
      taint: [],
      confinement: 'sandboxed',
    },
  };
}

/** The record of requests that this machine has shown, next to the workspace. */
export function consentOn(disk: Disk): Consent {
  return consent({ disk, folder: '/state/w', workspace: 'w', keyFile: '/state/key' });
}

interface Desk {
  disk: SimDisk;
  clock: SimClock;
  form: Ballot;
  text(): string;
  /** Saves as an editor that replaces the file, and lets some time pass. */
  save(text: string): void;
  /** Looks, updates and waits as a running process does, until the ballot has nothing due. */
  settle(open: readonly Approval[]): Promise<BallotReading>;
}

/**
 * The wall clock is a day behind the files, so only time that the process itself saw pass counts as
 * quiet.
 */
export async function desk(...shown: Approval[]): Promise<Desk> {
  const disk = simDisk();
  for (const folder of ['/w/tasks', '/w/.guild/tmp']) disk.makeFolder(folder);
  const clock = simClock({ start: '1969-12-31T00:00:00.000Z' });
  const form = ballot({ root: '/w', disk, clock, peer: 'peer01', consent: consentOn(disk) });
  if (shown.length > 0) await form.show(shown, [], new Map());
  form.read(shown);
  const settle: Desk['settle'] = async (open) => {
    const all: BallotReading = { answers: [], withdrawn: [], problems: [] };
    let left = [...open];
    for (let looks = 0; looks < 10; looks++) {
      const { answers, withdrawn, problems } = form.read(left);
      all.answers.push(...answers);
      all.withdrawn.push(...withdrawn);
      all.problems.push(...problems);
      left = left.filter(({ id }) => !withdrawn.includes(id) && !answers.some((answer) => answer.id === id));
      await form.show(left, [], new Map());
      const due = form.dueMs('read') ?? form.dueMs('write');
      if (due === undefined) return all;
      await clock.advance(due);
    }
    throw new Error('the ballot never settles');
  };
  return {
    disk,
    clock,
    form,
    text: () => disk.tree().get(FILE) ?? '',
    save: (text) => disk.save(FILE, text),
    settle,
  };
}

/** Ticks the entry with this id. */
export function tick(text: string, id: string, box = '[x]'): string {
  return text.replace(new RegExp(`- \\[_\\](.*\\n {2}id: ${id}\\n)`), `- ${box}$1`);
}

/** Removes the entry with this id. */
export function without(text: string, id: string): string {
  return text.replace(new RegExp(`- \\[.\\].*\\n {2}id: ${id}\\n(?: {2}.*\\n)*`), '');
}
