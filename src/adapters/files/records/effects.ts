/**
 * Effect records under `.guild/run`: one file for each effect. Its first line is written before the
 * effect, its second line is the outcome. Earlier versions kept the outcome in `<id>.done`. Records
 * of effects that ended long ago are in one file.
 */
import path from 'node:path';
import type { Disk } from '../../../ports/disk.js';
import type { Effects } from '../../../ports/store/effects.js';
import { parseOutcome, printOutcome } from '../../../text/records/outcome.js';
import type { AtomicWrite } from '../base/atomic-write.js';
import type { Layout } from '../base/layout.js';
import type { Journal } from '../journal/journal.js';
import { effectKey } from '../journal/step.js';
import type { Execute } from '../place/operation.js';
import { doneEffects, type DoneEffects } from './done-effects.js';

interface Dependencies {
  disk: Disk;
  layout: Layout;
  write: AtomicWrite;
  journal: Journal;
  execute: Execute;
  now: () => Date;
  /** Whether this process works under claims, and so has a journal. */
  isJoined: () => boolean;
  me: string;
  isAlive: (peer: string) => boolean;
}

interface Started {
  digest: string;
  at: string;
}

export function effects(dependencies: Dependencies): Effects & Pick<DoneEffects, 'fold'> {
  const { disk, layout, write, journal, execute, now, isJoined } = dependencies;
  const doneFile = (id: string): string => path.join(layout.run, `${id}.done`);
  const folded = doneEffects({ ...dependencies, linesOf: finishedLines });
  return {
    fold: folded.fold,
    async get(id) {
      const own = allLinesOf(id);
      const [first, second] = own.length < 2 ? (folded.get(id) ?? own) : own;
      const started = first === undefined ? undefined : parseStarted(first);
      if (started === undefined) return { state: 'none' };
      const outcome = parseOutcome(second ?? '');
      const { digest, at } = started;
      return outcome === undefined ? { state: 'started', digest, at } : { state: 'done', digest, outcome };
    },
    async begin(id, digest, what) {
      const file = layout.effect(id);
      const text = `${JSON.stringify({ digest, what, at: now().toISOString() })}\n`;
      if (!isJoined()) return (await write.createOnce(file, text)) && !isFolded(id);
      // The name decides which process runs it; the line makes it known after a power cut.
      if (isTorn(id)) disk.remove(file);
      // It gets its name when it is complete: another process would take a part for a torn record.
      if (execute({ to: file, text }).kind !== 'placed' || isFolded(id)) return false;
      journal.put({ effect: id, text });
      journal.placed(effectKey(id), file);
      await journal.durable(journal.line());
      return true;
    },
    async finish(id, outcome) {
      const file = layout.effect(id);
      const [first] = linesOf(id);
      if (first === undefined) return;
      const text = `${printOutcome(outcome)}\n`;
      if (isJoined()) journal.put({ effect: id, text: `${first}\n${text}` });
      disk.append(file, text);
      if (isJoined()) journal.placed(effectKey(id), file);
      else await disk.sync(file);
    },
  };

  /**
   * Call it only after creating the effect's file: an old record is folded before its name becomes
   * free.
   */
  function isFolded(id: string): boolean {
    return folded.has(id) && (disk.remove(layout.effect(id)), true);
  }

  function allLinesOf(id: string): string[] {
    const [first, second = oldOutcome(id)] = linesOf(id);
    return [first, second].filter((line) => line !== undefined);
  }

  /** A record that a power cut damaged stays where a person can inspect it. */
  function finishedLines(id: string): string[] {
    const lines = allLinesOf(id);
    const [first, second] = lines;
    const isWhole =
      first !== undefined && parseStarted(first) !== undefined && parseOutcome(second ?? '') !== undefined;
    return isWhole ? lines : [];
  }

  /** Its writer died before the journal had the line, so the effect never began. */
  function isTorn(id: string): boolean {
    const [first] = linesOf(id);
    return (first === undefined || parseStarted(first) === undefined) && disk.stamp(layout.effect(id)) !== undefined;
  }

  /** Whole lines: a last line without a newline is incomplete. */
  function linesOf(id: string): string[] {
    const read = disk.read(layout.effect(id));
    if (read.kind !== 'file') return [];
    const lines = read.bytes.toString('utf8').split('\n');
    const last = lines.pop()!;
    // Earlier versions wrote the start without a newline, but always whole.
    return lines.length === 0 && last !== '' ? [last] : lines;
  }

  function oldOutcome(id: string): string | undefined {
    const read = disk.read(doneFile(id));
    return read.kind === 'file' ? read.bytes.toString('utf8').trimEnd() : undefined;
  }
}

function parseStarted(text: string): Started | undefined {
  try {
    return JSON.parse(text) as Started;
  } catch {
    return undefined;
  }
}
