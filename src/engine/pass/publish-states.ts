/**
 * Publishes changes of agents' states on the `state` channel at the end of a pass. Each state is
 * derived from the task tree and compared with the published one. Idle agents cost nothing, and the
 * work of other processes is read again before it is published, so a stale view publishes nothing.
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
import { forgetEnded, learn, learnEnds, newMemory, openRoots, observe, pastOf, type Memory } from './agent-memory.js';
import { underWay } from '../core/ready-queue.js';
import { record, type EngineContext, type Ports } from '../core/context.js';

export interface StatePublisher {
  heard(event: Event): void;
  published(): ReadonlyMap<string, PublishedState>;
  /** Publishes all changes. Cheap if nothing changed. */
  publish(): Promise<void>;
  /** When to publish, so that quick changes are batched; 0: now; undefined: nothing changed. */
  dueInMs(): number | undefined;
}

/** Events of this process since the last look. */
interface News {
  /** By agent: the tasks it took, and how its tasks ended. */
  busy: Map<string, { took: string[]; ended: [string, string][] }>;
  /** Tasks whose state was set here, so it need not be read again. */
  ours: Set<string>;
}

interface Change {
  agent: string;
  before: PublishedState | undefined;
  moves: Move[];
}

export function statePublisher(context: Ports & Pick<EngineContext, 'queue'>): StatePublisher {
  const { bus } = context;
  const memories = new Map<string, Memory>();
  let news: News = noNews();
  /** Tasks that this process works on. One that is ending may be in no folder for a moment. */
  const inFlight = new Set<string>();
  const isInFlight = (id: string): boolean => inFlight.has(id);
  /** Tasks in no folder at the last look: being moved, or removed by a person. */
  let missing = new Set<string>();
  let published: Map<string, PublishedState> | undefined;
  /** Agents whose published state is neither idle nor complete. */
  const busyAgents = new Set<string>();
  /** Notes being published. The bus sends them back to this process, where they are ignored. */
  const sent = new Map<string, string>();
  let seenStamp = '';
  let due = Infinity;
  let isStale = true;
  let last: Promise<void> = Promise.resolve();
  let lookedAt = -Infinity;

  return {
    heard,
    published: () => published ?? new Map<string, PublishedState>(),
    publish,
    dueInMs() {
      if (!hasNews()) return undefined;
      return Math.max(0, lookedAt + INTERVALS.stateGatherMs - context.clock.monotonicMs());
    },
  };

  function publish(): Promise<void> {
    lookedAt = context.clock.monotonicMs();
    return (last = last.then(look));
  }

  /** A cheap check that avoids a look that would find nothing. */
  function hasNews(): boolean {
    return published === undefined || isStale || stampNow() !== seenStamp || context.clock.now().getTime() >= due;
  }

  function stampNow(): string {
    const unreadable = context.agents.unreadable?.() ?? new Map<string, Problem>();
    const paused = context.pauses.all().keys();
    return [context.tasks.version(), ...paused, '', ...unreadable.keys()].join();
  }

  function heard(event: Event): void {
    const { name, agent, task } = event;
    if (agent === undefined || task === undefined || !TASK_EVENTS.has(name)) return;
    isStale = true;
    const activity = news.busy.get(agent) ?? { took: [], ended: [] };
    news.busy.set(agent, activity);
    news.ours.add(task);
    if (name === 'task.claimed') {
      activity.took.push(task);
      inFlight.add(task);
      return;
    }
    inFlight.delete(task);
    if (name === 'task.completed' || name === 'task.failed')
      activity.ended.push([task, failureOf(event['error']) ?? '']);
  }

  async function look(): Promise<void> {
    reportProblems(await bus.refresh({ maxAgeMs: INTERVALS.requestAgeMs }));
    const states = (published ??= readPublished());
    const paused = context.pauses.all();
    const unreadable = context.agents.unreadable?.() ?? new Map<string, Problem>();
    const now = context.clock.now();
    if (!hasNews()) return;
    lookedAt = context.clock.monotonicMs();
    seenStamp = stampNow();
    isStale = false;
    due = Infinity;
    const since = news;
    news = noNews();
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
    const names = [started.keys(), busyAgents, since.busy.keys(), paused.keys(), unreadable.keys()].flatMap(
      (agents) => [...agents],
    );
    for (const agent of new Set(names)) {
      if (!isHosted(agent)) continue;
      const before = states.get(agent);
      const from = before ?? NOT_PUBLISHED;
      const current = await read(agent, started.get(agent) ?? [], tree, from.state, since, lost);
      if (current === undefined) isStale = true;
      else if (current.state !== from.state)
        changes.push({
          agent,
          before,
          moves: stateNotes(from, current, openRoots(memoryOf(agent), tree), tree.nowIso),
        });
    }
    missing = lost;
    if (changes.length > 0) await send(changes, states);
  }

  /** The agent's current state; undefined if this process cannot tell yet. */
  async function read(
    agent: string,
    tasks: readonly OpenTask[],
    tree: Tree,
    before: AgentState,
    since: News,
    lost: Set<string>,
  ): Promise<AgentActivity | undefined> {
    const memory = memoryOf(agent);
    observe(memory, tasks, since.busy.get(agent) ?? NO_ACTIVITY);
    for (const { task } of tasks)
      if (task.waits?.until !== undefined && task.waits.file === undefined) noteDue(task.waits.until);
    // Ended tasks matter only for an agent without work; until then only a few are remembered.
    if (tasks.length > 0) forgetEnded(memory, tree.isOpen, isInFlight);
    else if (!(await learnClosed(memory, tree, lost))) return undefined;
    const current = stateOf(agent, tasks, pastOf(memory), tree);
    return current.state === before || (await isConfirmed(current, tasks, memory, tree, since)) ? current : undefined;
  }

  /** Learns how the agent's closed tasks ended. False if that is not known yet. */
  function learnClosed(memory: Memory, tree: Tree, lost: Set<string>): Promise<boolean> {
    return learnEnds(memory, tree.isOpen, isInFlight, async (id) => {
      const placed = await context.tasks.read(id, { maxAgeMs: INTERVALS.requestAgeMs });
      if (placed !== undefined) return isEnded(placed.state) ? placed.task : 'unknown';
      if (missing.has(id)) return 'gone';
      lost.add(id);
      return 'unknown';
    });
  }

  /** Reads again what the state depends on: another process may have moved on since the scan. */
  async function isConfirmed(
    { state, tasks: ids }: AgentActivity,
    tasks: readonly OpenTask[],
    memory: Memory,
    tree: Tree,
    { ours }: News,
  ): Promise<boolean> {
    if (state === 'working' || state === 'blocked') {
      if (ids.some((id) => ours.has(id))) return true;
      const placed = await context.tasks.read(ids[0]!, { maxAgeMs: INTERVALS.requestAgeMs });
      return placed !== undefined && placed.state === tasks.find(({ task }) => task.id === ids[0])?.state;
    }
    if (state !== 'waiting' && state !== 'complete') return true;
    for (const root of memory.roots) {
      if (ours.has(root)) continue;
      const placed = await context.tasks.read(root, { maxAgeMs: INTERVALS.requestAgeMs });
      if ((placed !== undefined && !isEnded(placed.state)) !== tree.isOpen(root)) return false;
    }
    return true;
  }

  /** If another process published an agent's state meanwhile, ours is dropped and derived again. */
  async function send(changes: readonly Change[], states: Map<string, PublishedState>): Promise<void> {
    reportProblems(await bus.refresh({ maxAgeMs: INTERVALS.requestAgeMs }));
    const current = changes.filter(({ agent, before }) => states.get(agent) === before);
    isStale ||= current.length < changes.length;
    const moves = current.flatMap((change) => change.moves);
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
    else for (const note of notes) hear(states, note);
    sent.clear();
  }

  function reportProblems(problems: readonly Problem[]): void {
    for (const problem of problems) {
      context.watchers.problem(problem);
      record(context, 'file.held', { problem });
    }
  }

  /** Reads all published states once and subscribes to later ones. */
  function readPublished(): Map<string, PublishedState> {
    const states = foldStates(bus.read(STATE_CHANNEL));
    for (const [agent, state] of states) trackBusy(agent, state);
    bus.subscribe(STATE_CHANNEL, (note) => hear(states, note));
    return states;
  }

  function hear(states: Map<string, PublishedState>, note: Note): void {
    if (!applyStateNote(states, note) || note.body.type !== 'state_change') return;
    const { agent } = note.body;
    const state = states.get(agent)!;
    trackBusy(agent, state);
    if (sent.get(note.id) === JSON.stringify(note.body)) return;
    isStale = true;
    const memory = memories.get(agent);
    if (memory !== undefined) learn(memory, state);
  }

  function trackBusy(agent: string, { state }: PublishedState): void {
    if (state === 'idle' || state === 'complete') busyAgents.delete(agent);
    else busyAgents.add(agent);
  }

  function memoryOf(agent: string): Memory {
    const memory = memories.get(agent) ?? newMemory(published?.get(agent) ?? NOT_PUBLISHED);
    memories.set(agent, memory);
    return memory;
  }

  function isHosted(agent: string): boolean {
    const isAgent = context.agents.all().has(agent) || context.agents.unreadable?.().has(agent) === true;
    return isAgent && (context.hosts === undefined || context.hosts.has(agent));
  }

  function noteDue(until: string): void {
    const at = Date.parse(until);
    if (at > context.clock.now().getTime()) due = Math.min(due, at);
  }
}

function noNews(): News {
  return { busy: new Map(), ours: new Set() };
}

const NO_ACTIVITY = { took: [], ended: [] };

const TASK_EVENTS = new Set<Event['name']>([
  'task.claimed',
  'task.parked',
  'task.released',
  'task.completed',
  'task.failed',
  'task.recovered',
  'task.retried',
  'result.fenced',
]);
