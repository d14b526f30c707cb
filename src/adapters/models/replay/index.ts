/**
 * Plays a cassette to a workspace: what came from outside comes again, in the same order and at the same times. Whatever asks for
 * something else than was recorded is the first difference; from there on nothing that was recorded fits any more, so the replay
 * stops, or goes on with the real world.
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

interface ReplayGiven {
  entries: readonly CassetteEntry[];
  clock: { moveTo(ms: number): number };
  ids: { moveTo(count: number): void };
  put(changes: readonly FileState[]): void;
  /** At the first difference it goes on with the real world. */
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
  /** Does what people did and lets the workspace work, until the end or the first difference. */
  play(stage: Stage): Promise<void>;
  difference(): Difference | undefined;
  isLive(): boolean;
  /** Model calls: answered from the cassette, and by a real model. */
  calls(): { replayed: number; live: number };
}

export function replay({ entries, clock, ids, put, goesLive, now }: ReplayGiven): Replay {
  const order = entries.filter(({ kind }) => kind !== 'file' && kind !== 'plugins' && kind !== 'shell');
  const texts = new Map<string, string>();
  const calls = { replayed: 0, live: 0 };
  let next = 0;
  let difference: Difference | undefined;
  let stop = (): void => undefined;

  const isLive = (): boolean => goesLive && difference !== undefined;

  return {
    model: (real) => ({ call: (request) => ask(real, request) }),
    shell: (real) => ({
      ...shellNature(entries, real),
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
        if (!isStep(entry)) return differ({ message: `the recorded run went on here: ${shown(entry)}`, ...who(entry) });
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
    const other = difference ?? compare(entry, request);
    if (other === undefined) {
      const { at, reply, stopped, changes = [] } = taken(entry as AskedEntry);
      calls.replayed++;
      put(changes);
      clock.moveTo(at);
      if (stopped) stop();
      const answered = reply as ModelReply;
      if (answered.ok) request.onText?.(answered.answer.text);
      return answered;
    }
    differ(other);
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
    const fits = entry?.kind === what.kind && entry.asked === what.asked && entry.agent === what.agent;
    if (!fits || entry.task !== what.task) {
      const { agent, task } = what;
      const diff = entry?.kind === what.kind ? { diff: lineDiff(entry.asked, what.asked) } : {};
      differ({ message: `${agent} does something else: ${what.asked}, not ${shown(entry)}`, agent, task, ...diff });
      return run().finally(() => clock.moveTo(now()));
    }
    const { at, changes, outcome, stopped } = taken(entry);
    put(changes);
    clock.moveTo(at);
    if (stopped) stop();
    const said = outcome as { said: T } | { threw: string };
    if ('threw' in said) throw new Error(said.threw);
    return said.said;
  }

  function taken<E extends AskedEntry | DoneEntry>(entry: E): E {
    next++;
    if (entry.kind === 'model') for (const [print, text] of Object.entries(entry.texts)) texts.set(print, text);
    return entry;
  }

  /** The first one stays. Where the replay may not go live, nothing more is done. */
  function differ(found: Difference): void {
    difference ??= found;
    if (!goesLive) throw new Differs(difference.message);
  }

  function compare(entry: CassetteEntry | undefined, request: ModelRequest): Difference | undefined {
    const { agent, task, turn } = request;
    const me = { agent, task, turn };
    const named = `${agent} (task ${task}, turn ${turn})`;
    if (entry?.kind !== 'model')
      return { message: `${named} asks its model, where the recorded run did not: ${shown(entry)}`, ...me };
    if (entry.agent !== agent || entry.task !== task || entry.turn !== turn)
      return { message: `${named} asks its model; recorded was ${shown(entry)}`, ...me };
    if (entry.model !== request.model)
      return { message: `${named} asks ${request.model}; recorded was ${entry.model}`, what: 'model', ...me };
    const was = new Map([...texts, ...Object.entries(entry.texts)]);
    const parts = questionParts(request);
    for (let i = 0; i < Math.max(parts.length, entry.question.length); i++) {
      const [name, print] = entry.question[i] ?? [];
      const part = parts[i];
      if (part !== undefined && name === part.name && print === hash53(part.text)) continue;
      const what = part?.name ?? name!;
      const diff = lineDiff(print === undefined ? '' : (was.get(print) ?? ''), part?.text ?? '');
      return { message: `${named} asks something else than was recorded: the ${what} differs`, what, diff, ...me };
    }
    return undefined;
  }
}

/** Goes up through the engine, which then starts nothing more. */
class Differs extends Error {}

function shellNature(entries: readonly CassetteEntry[], real: Shell): Pick<Shell, 'confinement' | 'isSandboxed'> {
  const kept = entries.find((entry) => entry.kind === 'shell');
  if (kept?.kind !== 'shell') return real;
  return {
    confinement: (network) => (network ? kept.withNetwork : kept.confinement),
    isSandboxed: () => kept.sandboxed,
  };
}

function isStep(entry: CassetteEntry): entry is CassetteStep {
  return entry.kind === 'outside' || entry.kind === 'added' || entry.kind === 'intent' || entry.kind === 'pass';
}

function who(entry: CassetteEntry): Partial<Difference> {
  if (entry.kind === 'model') return { agent: entry.agent, task: entry.task, turn: entry.turn };
  return 'agent' in entry ? { agent: entry.agent, task: entry.task } : {};
}

function shown(entry: CassetteEntry | undefined): string {
  if (entry === undefined) return 'the end';
  if (entry.kind === 'model') return `${entry.agent} asked ${entry.model} (task ${entry.task}, turn ${entry.turn})`;
  if ('asked' in entry) return `${entry.agent}: ${entry.asked}`;
  return entry.kind === 'pass' ? 'the next pass' : 'what people did next';
}

function lineOf({ command, what }: ShellRun): string {
  return command ?? JSON.stringify(what);
}
