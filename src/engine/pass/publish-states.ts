/**
 * Tells how the agents' states change. At the end of a pass what each agent is doing is read off the tree and compared with what was
 * last told of it; the difference is told on the `state` channel, all of a pass in one go. Only agents are looked at that have work,
 * were not at rest when last told of, or did something since, so a pass costs nothing for those that rest, and ended tasks are read once at
 * most, when nobody here saw them end. What another process did is looked up before it is told: a view that is behind tells nothing.
 */
import { INTERVALS } from '../../domain/intervals.js';
import type { AgentState } from '../../domain/agent/agent-state.js';
import type { Event } from '../../domain/event.js';
import type { Note } from '../../domain/coordination/note.js';
import type { Problem } from '../../domain/problem.js';
import { isEnded } from '../../domain/task/task.js';
import {
  byAgent,
  stateOf,
  type AgentActivity,
  type OpenTask,
  type Tree,
} from '../../rules/coordination/agent-states.js';
import {
  foldStates,
  applyStateNote,
  STATE_CHANNEL,
  stateNotes,
  NOT_PUBLISHED,
  type Move,
  type PublishedState,
} from '../../rules/coordination/published-states.js';
import { failureOf } from '../../rules/staffing/track-record.js';
import { forgetEnded, learn, learnEnds, newMemory, openRoots, pastOf, sees, type Memory } from './agent-memory.js';
import { underWay } from '../core/ready-queue.js';
import { record, type EngineContext, type Ports } from '../core/context.js';

export interface States {
  /** Something was done here. */
  heard(event: Event): void;
  /** What was last told of each agent. */
  told(): ReadonlyMap<string, PublishedState>;
  /** Tells what is not told yet. Nothing is written, and next to nothing done, where nothing changed. */
  tell(): Promise<void>;
  /** The same, but what changes quickly is told together. In how many milliseconds it must be asked again; undefined: all is told. */
  tellSoon(): Promise<number | undefined>;
}

/** What happened here since the last look. */
interface News {
  /** Agents that did something: what they took, and how it ended. */
  busy: Map<string, { took: string[]; ended: [string, string][] }>;
  /** Tasks whose place is known, because it was given here. */
  ours: Set<string>;
}

interface Change {
  agent: string;
  /** What was told of it when this was found. */
  before: PublishedState | undefined;
  moves: Move[];
}

export function states(context: Ports & Pick<EngineContext, 'queue'>): States {
  const { bus } = context;
  const memories = new Map<string, Memory>();
  let news: News = nothing();
  /** Tasks in the hands of this process: on their way to an end they lie in no folder for a moment. */
  const flying = new Set<string>();
  const isFlying = (id: string): boolean => flying.has(id);
  /** Tasks that were nowhere at the last look: on their way between two folders, or taken away by a person. */
  let missing = new Set<string>();
  let told: Map<string, PublishedState> | undefined;
  /** Agents that were not at rest when last told of. */
  const restless = new Set<string>();
  /** Notes on their way, so that what comes back of them is no news. */
  const sent = new Map<string, string>();
  let seen = '';
  let due = Infinity;
  let behind = true;
  let last: Promise<void> = Promise.resolve();
  let lookedAt = -Infinity;

  return {
    heard,
    told: () => told ?? new Map<string, PublishedState>(),
    tell,
    async tellSoon() {
      if (!isNews()) return undefined;
      const wait = lookedAt + INTERVALS.stateGatherMs - context.clock.monotonicMs();
      if (wait > 0) return wait;
      await tell();
      return undefined;
    },
  };

  function tell(): Promise<void> {
    return (last = last.then(look));
  }

  /** Something may have to be told: a look that would find nothing costs more than asking. */
  function isNews(): boolean {
    return told === undefined || behind || stampNow() !== seen || context.clock.now().getTime() >= due;
  }

  function stampNow(): string {
    const unreadable = context.agents.unreadable?.() ?? [];
    const paused = [...(context.pauses.all().keys() ?? [])];
    return [context.tasks.version(), ...paused, '', ...unreadable.keys()].join();
  }

  function heard(event: Event): void {
    const { name, agent, task } = event;
    if (agent === undefined || task === undefined || !OF_TASKS.has(name)) return;
    behind = true;
    const did = news.busy.get(agent) ?? { took: [], ended: [] };
    news.busy.set(agent, did);
    news.ours.add(task);
    if (name === 'task.claimed') {
      did.took.push(task);
      flying.add(task);
      return;
    }
    flying.delete(task);
    if (name === 'task.completed' || name === 'task.failed') did.ended.push([task, failureOf(event['error']) ?? '']);
  }

  async function look(): Promise<void> {
    heed(bus.refresh());
    const known = (told ??= firstRead());
    const paused = context.pauses.all() ?? new Map<string, string>();
    const unreadable = context.agents.unreadable?.() ?? new Map<string, Problem>();
    const now = context.clock.now();
    if (!isNews()) return;
    lookedAt = context.clock.monotonicMs();
    seen = stampNow();
    behind = false;
    due = Infinity;
    const since = news;
    news = nothing();
    const { started, ...open } = byAgent(underWay(context), context.tasks.getOpen);
    const tree: Tree = {
      ...open,
      nowIso: now.toISOString(),
      paused,
      unreadable,
      unreadableTask: context.tasks.unreadable,
    };
    const lost = new Set<string>();
    const changes: Change[] = [];
    const names = [started.keys(), restless, since.busy.keys(), paused.keys(), unreadable.keys()].flatMap((one) => [
      ...one,
    ]);
    for (const agent of new Set(names)) {
      if (!isOurs(agent)) continue;
      const before = known.get(agent);
      const from = before ?? NOT_PUBLISHED;
      const doing = await read(agent, started.get(agent) ?? [], tree, from.state, since, lost);
      if (doing === undefined) behind = true;
      else if (doing.state !== from.state)
        changes.push({ agent, before, moves: stateNotes(from, doing, openRoots(memoryOf(agent), tree), tree.nowIso) });
    }
    missing = lost;
    if (changes.length > 0) await send(changes, known);
  }

  /** What the agent is doing now; undefined if this process does not see it well enough to say. */
  async function read(
    agent: string,
    tasks: readonly OpenTask[],
    tree: Tree,
    before: AgentState,
    since: News,
    lost: Set<string>,
  ): Promise<AgentActivity | undefined> {
    const memory = memoryOf(agent);
    sees(memory, tasks, since.busy.get(agent) ?? IDLE);
    for (const { task } of tasks)
      if (task.waits?.until !== undefined && task.waits.file === undefined) noteDue(task.waits.until);
    // How tasks ended matters when there is nothing else to say; until then only a few are kept to ask about.
    if (tasks.length > 0) forgetEnded(memory, tree.isOpen, isFlying);
    else if (!(await closed(memory, tree, lost))) return undefined;
    const doing = stateOf(agent, tasks, pastOf(memory), tree);
    return doing.state === before || (await isSo(doing, tasks, memory, tree, since)) ? doing : undefined;
  }

  /** Learns how those of its tasks ended that are open no longer. False if that cannot be said now. */
  function closed(memory: Memory, tree: Tree, lost: Set<string>): Promise<boolean> {
    return learnEnds(memory, tree.isOpen, isFlying, async (id) => {
      const placed = await context.tasks.read(id);
      if (placed !== undefined) return isEnded(placed.state) ? placed.task : 'unknown';
      if (missing.has(id)) return 'gone';
      lost.add(id);
      return 'unknown';
    });
  }

  /** Whether what this process sees is so now: another one may have gone on since we looked. */
  async function isSo(
    { state, tasks: ids }: AgentActivity,
    tasks: readonly OpenTask[],
    memory: Memory,
    tree: Tree,
    { ours }: News,
  ): Promise<boolean> {
    if (state === 'working' || state === 'blocked') {
      if (ids.some((id) => ours.has(id))) return true;
      const placed = await context.tasks.read(ids[0]!);
      return placed !== undefined && placed.state === tasks.find((one) => one.task.id === ids[0])?.state;
    }
    if (state !== 'waiting' && state !== 'complete') return true;
    for (const root of memory.roots) {
      if (ours.has(root)) continue;
      const placed = await context.tasks.read(root);
      if ((placed !== undefined && !isEnded(placed.state)) !== tree.isOpen(root)) return false;
    }
    return true;
  }

  /** Whoever was faster is right: where somebody told of an agent meanwhile, it is thought over again. */
  async function send(changes: readonly Change[], known: Map<string, PublishedState>): Promise<void> {
    heed(bus.refresh());
    const still = changes.filter(({ agent, before }) => known.get(agent) === before);
    behind ||= still.length < changes.length;
    const moves = still.flatMap((one) => one.moves);
    if (moves.length === 0) return;
    for (const { note, problem } of moves) {
      if (problem === undefined || note.body.type !== 'state_change') continue;
      const { agent, fromState, toState } = note.body;
      record(context, 'agent.moved', { agent, from: fromState, to: toState, problem });
    }
    const notes = moves.map(({ note }) => note);
    for (const { id, body } of notes) sent.set(id, JSON.stringify(body));
    const problem = await bus.tell(notes);
    if (problem !== undefined) context.watchers.problem(problem);
    else for (const note of notes) hear(known, note);
    sent.clear();
  }

  function heed(problems: readonly Problem[]): void {
    for (const problem of problems) {
      context.watchers.problem(problem);
      record(context, 'file.held', { problem });
    }
  }

  /** Everything told so far, once; what comes later is heard. */
  function firstRead(): Map<string, PublishedState> {
    const known = foldStates(bus.read(STATE_CHANNEL));
    for (const [agent, one] of known) rest(agent, one);
    bus.subscribe(STATE_CHANNEL, (note) => hear(known, note));
    return known;
  }

  function hear(known: Map<string, PublishedState>, note: Note): void {
    if (!applyStateNote(known, note) || note.body.type !== 'state_change') return;
    const { agent } = note.body;
    const now = known.get(agent)!;
    rest(agent, now);
    if (sent.get(note.id) === JSON.stringify(note.body)) return;
    behind = true;
    const memory = memories.get(agent);
    if (memory !== undefined) learn(memory, now);
  }

  function rest(agent: string, { state }: PublishedState): void {
    if (state === 'idle' || state === 'complete') restless.delete(agent);
    else restless.add(agent);
  }

  function memoryOf(agent: string): Memory {
    const there = memories.get(agent);
    if (there !== undefined) return there;
    const made = newMemory(told?.get(agent) ?? NOT_PUBLISHED);
    memories.set(agent, made);
    return made;
  }

  function isOurs(agent: string): boolean {
    const isAgent = context.agents.all().has(agent) || context.agents.unreadable?.().has(agent) === true;
    return isAgent && (context.hosts === undefined || context.hosts.has(agent));
  }

  function noteDue(until: string): void {
    const at = Date.parse(until);
    if (at > context.clock.now().getTime()) due = Math.min(due, at);
  }
}

function nothing(): News {
  return { busy: new Map(), ours: new Set() };
}

const IDLE = { took: [], ended: [] };

const OF_TASKS = new Set<Event['name']>([
  'task.claimed',
  'task.parked',
  'task.released',
  'task.completed',
  'task.failed',
  'task.recovered',
  'task.retried',
  'result.fenced',
]);
