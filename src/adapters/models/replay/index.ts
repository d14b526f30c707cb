/**
 * Replays a cassette: all outside input comes again, in the same order and at the same times. The
 * first request that differs from the recording ends the replay, because later entries no longer
 * fit. It then stops, or continues with real models and commands.
 */
import type {
  AskedEntry,
  CassetteEntry,
  CassetteStep,
  Difference,
  DoneEntry,
  FileState,
} from '../../../domain/session/cassette.js';
import { hash53 } from '../../../domain/task/id.js';
import { questionParts } from '../../../domain/session/question.js';
import type { Model, ModelReply, ModelRequest } from '../../../ports/model.js';
import type { Shell, ShellOutcome, Rollback, ShellRun } from '../../../ports/shell.js';
import type { Store } from '../../../ports/store/index.js';
import { lineDiff } from '../../../text/lines/line-diff.js';

interface ReplayOptions {
  entries: readonly CassetteEntry[];
  clock: { moveTo(ms: number): number };
  ids: { moveTo(count: number): void };
  put(changes: readonly FileState[]): void;
  /** Continue with real models and commands after the first difference. */
  goesLive: boolean;
  now: () => number;
}

interface Stage {
  store: Store;
  pump(roots?: ReadonlySet<string>): Promise<unknown>;
  stop(): Promise<void>;
}

export interface Replay {
  model(real: Model): Model;
  shell(real: Shell): Shell;
  done<T>(what: Pick<DoneEntry, 'kind' | 'agent' | 'task' | 'asked'>, run: () => Promise<T>): Promise<T>;
  /** Repeats what people did and runs the workspace, until the end or the first difference. */
  play(stage: Stage): Promise<void>;
  difference(): Difference | undefined;
  isLive(): boolean;
  /** Model calls answered from the cassette, and by a real model. */
  calls(): { replayed: number; live: number };
}

/** Entries that prepare the run; all other entries are played in order. */
const GROUND: ReadonlySet<string> = new Set(['file', 'plugins', 'shell', 'surroundings', 'seal']);

export function replay({ entries, clock, ids, put, goesLive, now }: ReplayOptions): Replay {
  const order = entries.filter(({ kind }) => !GROUND.has(kind));
  const texts = new Map<string, string>();
  const calls = { replayed: 0, live: 0 };
  let next = 0;
  let difference: Difference | undefined;
  let stop = (): void => undefined;

  const isLive = (): boolean => goesLive && difference !== undefined;

  return {
    model: (real) => ({ call: (request) => ask(real, request) }),
    shell: (real) => ({
      ...recordedConfinement(entries, real),
      run: (run: ShellRun): Promise<ShellOutcome> =>
        done({ kind: 'command', agent: run.agent, task: run.task ?? '', asked: lineOf(run) }, () => real.run(run)),
      rollback: (agent: string, commit: string): Promise<Rollback> =>
        done({ kind: 'rollback', agent, task: '', asked: commit }, () => real.rollback(agent, commit)),
    }),
    done,
    async play(stage) {
      stop = () => void stage.stop();
      while (next < order.length && difference === undefined) {
        const entry = order[next]!;
        if (!isStep(entry))
          return differ({ message: `the recorded run continues: ${describe(entry)}`, ...callerOf(entry) });
        next++;
        await step(stage, entry);
      }
    },
    difference: () => difference,
    isLive,
    calls: () => calls,
  };

  async function step({ store, pump }: Stage, entry: CassetteStep): Promise<void> {
    clock.moveTo(entry.at);
    if (entry.kind === 'outside') put(entry.changes);
    else if (entry.kind === 'added') await store.tasks.create(entry.task);
    else if (entry.kind === 'intent') await store.intents.submit(entry.intent);
    else {
      ids.moveTo(entry.ids);
      await pump(entry.roots && new Set(entry.roots)).catch((thrown: unknown) => {
        if (!(thrown instanceof Differs)) throw thrown;
      });
    }
  }

  async function ask(real: Model, request: ModelRequest): Promise<ModelReply> {
    const entry = difference ? undefined : order[next];
    const mismatch = difference ?? compare(entry, request);
    if (mismatch === undefined) {
      const { at, reply, stopped, changes = [] } = take(entry as AskedEntry);
      calls.replayed++;
      put(changes);
      clock.moveTo(at);
      if (stopped) stop();
      const answered = reply as ModelReply;
      if (answered.ok) request.onText?.(answered.answer.text);
      return answered;
    }
    differ(mismatch);
    calls.live++;
    const reply = await real.call(request);
    clock.moveTo(now());
    return reply;
  }

  async function done<T>(
    what: Pick<DoneEntry, 'kind' | 'agent' | 'task' | 'asked'>,
    run: () => Promise<T>,
  ): Promise<T> {
    const entry = difference ? undefined : order[next];
    const matches = entry?.kind === what.kind && entry.asked === what.asked && entry.agent === what.agent;
    if (!matches || entry.task !== what.task) {
      const { agent, task } = what;
      const diff = entry?.kind === what.kind ? { diff: lineDiff(entry.asked, what.asked) } : {};
      differ({ message: `${agent} runs ${what.asked}; the recording has ${describe(entry)}`, agent, task, ...diff });
      return run().finally(() => clock.moveTo(now()));
    }
    const { at, changes, outcome, stopped } = take(entry);
    put(changes);
    clock.moveTo(at);
    if (stopped) stop();
    const recorded = outcome as { said: T } | { threw: string };
    if ('threw' in recorded) throw new Error(recorded.threw);
    return recorded.said;
  }

  function take<E extends AskedEntry | DoneEntry>(entry: E): E {
    next++;
    if (entry.kind === 'model') for (const [print, text] of Object.entries(entry.texts)) texts.set(print, text);
    return entry;
  }

  /** Keeps the first difference. Throws unless the replay may continue with real models. */
  function differ(first: Difference): void {
    difference ??= first;
    if (!goesLive) throw new Differs(difference.message);
  }

  function compare(entry: CassetteEntry | undefined, request: ModelRequest): Difference | undefined {
    const { agent, task, turn } = request;
    const me = { agent, task, turn };
    const caller = `${agent} (task ${task}, turn ${turn})`;
    if (entry?.kind !== 'model')
      return { message: `${caller} calls its model; the recording has ${describe(entry)}`, ...me };
    if (entry.agent !== agent || entry.task !== task || entry.turn !== turn)
      return { message: `${caller} calls its model; the recording has ${describe(entry)}`, ...me };
    if (entry.model !== request.model)
      return { message: `${caller} calls ${request.model}; the recording has ${entry.model}`, what: 'model', ...me };
    const recordedTexts = new Map([...texts, ...Object.entries(entry.texts)]);
    const parts = questionParts(request);
    for (let i = 0; i < Math.max(parts.length, entry.question.length); i++) {
      const [name, print] = entry.question[i] ?? [];
      const part = parts[i];
      if (part !== undefined && name === part.name && print === hash53(part.text)) continue;
      const what = part?.name ?? name!;
      const diff = lineDiff(print === undefined ? '' : (recordedTexts.get(print) ?? ''), part?.text ?? '');
      return { message: `${caller} sends a different request than recorded: the ${what} differs`, what, diff, ...me };
    }
    return undefined;
  }
}

/** Propagates through the engine, which then starts nothing more. */
class Differs extends Error {}

function recordedConfinement(
  entries: readonly CassetteEntry[],
  real: Shell,
): Pick<Shell, 'confinement' | 'isSandboxed' | 'refusal'> {
  const recorded = entries.find((entry) => entry.kind === 'shell');
  if (recorded?.kind !== 'shell') return real;
  return {
    confinement: (hosts) => (hosts ? recorded.withNetwork : recorded.confinement),
    isSandboxed: () => recorded.sandboxed,
    refusal: () => undefined,
  };
}

function isStep(entry: CassetteEntry): entry is CassetteStep {
  return entry.kind === 'outside' || entry.kind === 'added' || entry.kind === 'intent' || entry.kind === 'pass';
}

function callerOf(entry: CassetteEntry): Partial<Difference> {
  if (entry.kind === 'model') return { agent: entry.agent, task: entry.task, turn: entry.turn };
  return 'agent' in entry ? { agent: entry.agent, task: entry.task } : {};
}

function describe(entry: CassetteEntry | undefined): string {
  if (entry === undefined) return 'the end';
  if (entry.kind === 'model') return `${entry.agent} asked ${entry.model} (task ${entry.task}, turn ${entry.turn})`;
  if ('asked' in entry) return `${entry.agent}: ${entry.asked}`;
  return entry.kind === 'pass' ? 'the next pass' : 'what people did next';
}

function lineOf({ command, what }: ShellRun): string {
  return command ?? JSON.stringify(what);
}
