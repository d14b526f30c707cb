/**
 * Records a cassette while a workspace runs: every input from outside is one line. The workspace's
 * clock moves only with those lines, so clock reads need not be recorded.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { CassetteEntry, CassetteHead, DoneEntry, FileState } from '../../../domain/session/cassette.js';
import { hash53 } from '../../../domain/task/id.js';
import { questionParts } from '../../../domain/session/question.js';
import type { Model } from '../../../ports/model.js';
import type { Shell, ShellRun } from '../../../ports/shell.js';
import type { Intents } from '../../../ports/store/intents.js';
import type { Tasks } from '../../../ports/store/tasks.js';
import { printEntry } from '../../../text/records/cassette.js';

interface RecorderOptions {
  file: string;
  clock: { moveTo(ms: number): number };
  ids: { count(): number };
  tree: { look(): FileState[]; digests(): Record<string, string>; leftOut(): CassetteHead['leftOut'] };
  /** Real time. */
  now: () => number;
  /** Puts files of the program in place, so that they do not look like changes from outside. */
  flush: () => Promise<void>;
}

export interface Recorder {
  begin(head: Omit<CassetteHead, 'leftOut'>): void;
  /** Call after opening the workspace: files created by that are not recorded as changes. */
  opened(): void;
  write(entry: CassetteEntry): void;
  model(real: Model): Model;
  shell(real: Shell): Shell;
  tasks(real: Tasks): Tasks;
  intents(real: Intents): Intents;
  /** Runs something outside and records its result or its error. */
  done<T>(what: Pick<DoneEntry, 'kind' | 'agent' | 'task' | 'asked'>, run: () => Promise<T>): Promise<T>;
  pass<T>(roots: ReadonlySet<string> | undefined, run: () => Promise<T>): Promise<T>;
  /** Records changes that people made to files since the last pass. True if there were any. */
  outside(): boolean;
  stopped(): void;
  end(): void;
  counts(): Record<string, number>;
}

export function recorder({ file, clock, ids, tree, now, flush }: RecorderOptions): Recorder {
  let sum = '';
  let passing = false;
  let isStopped = false;
  const writtenTexts = new Set<string>();
  const counts: Record<string, number> = {};

  return {
    begin(head) {
      const files = tree.look();
      fs.mkdirSync(path.dirname(file), { recursive: true });
      write({ ...head, leftOut: tree.leftOut() });
      for (const state of files) write({ kind: 'file', ...state });
    },
    opened: () => void tree.look(),
    write,
    model: (real) => ({
      async call(request) {
        await flush();
        tree.look();
        const before = tree.digests();
        const reply = await real.call(request);
        const at = clock.moveTo(now());
        const changes = tree.look().filter(({ file: changed }) => !isOurs(changed, before[changed] === undefined));
        const texts: Record<string, string> = {};
        const question = questionParts(request).map(({ name, text }): [string, string] => {
          const fingerprint = hash53(text);
          if (!writtenTexts.has(fingerprint)) texts[fingerprint] = text;
          writtenTexts.add(fingerprint);
          return [name, fingerprint];
        });
        const { agent, task, turn, model } = request;
        write({
          kind: 'model',
          at,
          agent,
          task,
          turn,
          model,
          question,
          texts,
          reply,
          ...changesOf(changes),
          ...stopFlag(),
        });
        return reply;
      },
    }),
    shell: (real) => ({
      ...real,
      run: (run) =>
        done({ kind: 'command', agent: run.agent, task: run.task ?? '', asked: lineOf(run) }, () => real.run(run)),
      rollback: (agent, commit) =>
        done({ kind: 'rollback', agent, task: '', asked: commit }, () => real.rollback(agent, commit)),
    }),
    tasks: (real) => ({
      ...real,
      async create(task, options) {
        if (passing) return real.create(task, options);
        outside();
        const created = await real.create(task, options);
        if (created) write({ kind: 'added', at: clock.moveTo(now()), task });
        tree.look();
        return created;
      },
    }),
    intents: (real) => ({
      ...real,
      async submit(intent) {
        if (passing) return real.submit(intent);
        outside();
        await real.submit(intent);
        write({ kind: 'intent', at: clock.moveTo(now()), intent });
        tree.look();
      },
    }),
    done,
    outside,
    async pass(roots, run) {
      outside();
      const at = clock.moveTo(now());
      write({ kind: 'pass', at, ids: ids.count(), roots: roots && [...roots] });
      passing = true;
      isStopped = false;
      try {
        return await run();
      } finally {
        passing = false;
        tree.look();
      }
    },
    stopped: () => void (isStopped ||= passing),
    end() {
      outside();
      write({ kind: 'end', at: clock.moveTo(now()), files: tree.digests() });
    },
    counts: () => counts,
  };

  function write(entry: CassetteEntry): void {
    const printed = printEntry(entry, sum);
    sum = printed.sum;
    fs.writeFileSync(file, printed.line, { flag: entry.kind === 'head' ? 'wx' : 'a', mode: 0o600 });
    counts[entry.kind] = (counts[entry.kind] ?? 0) + 1;
  }

  function outside(): boolean {
    const changes = tree.look();
    if (changes.length === 0) return false;
    write({ kind: 'outside', at: clock.moveTo(now()), changes });
    return true;
  }

  async function done<T>(
    what: Pick<DoneEntry, 'kind' | 'agent' | 'task' | 'asked'>,
    run: () => Promise<T>,
  ): Promise<T> {
    await flush();
    tree.look();
    const outcome = await run().then(
      (result) => ({ said: result }),
      (thrown: unknown) => ({ thrown }),
    );
    const at = clock.moveTo(now());
    const kept = 'said' in outcome ? outcome : { threw: messageOf(outcome.thrown) };
    write({ ...what, at, outcome: kept, changes: tree.look(), ...stopFlag() });
    if ('thrown' in outcome) throw outcome.thrown;
    return outcome.said;
  }

  function stopFlag(): { stopped?: true } {
    return isStopped ? { stopped: true } : {};
  }
}

function changesOf(changes: FileState[]): { changes?: FileState[] } {
  return changes.length > 0 ? { changes } : {};
}

/** During a model call the program itself only creates the session file and stores blobs. */
function isOurs(file: string, isNew: boolean): boolean {
  if (file.startsWith('storage/blobs/')) return true;
  if (file.startsWith('.guild/')) return !file.startsWith('.guild/intents/');
  return isNew && (file.startsWith('sessions/') || file.endsWith('/'));
}

/** The command line to show for a run. */
function lineOf({ command, what }: ShellRun): string {
  return command ?? JSON.stringify(what);
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
