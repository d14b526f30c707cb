/**
 * The workspace as it was at a moment of the past, from the records of its tasks and their events.
 * It has the same form as the current workspace, so every view can show both. Files without events
 * (boards, agents) are not part of it.
 */
import type { Event } from '../../domain/event.js';
import { isEnded, isForHuman, type OpenState, type Placed } from '../../domain/task/task.js';
import type { OpenTask } from '../../ports/store/tasks.js';
import type { AgentActivity } from '../../rules/coordination/agent-states.js';
import { joinedTables, tableOf, type Table } from '../../text/query/query.js';
import { taskRow } from '../../text/records/task-row.js';
import type { Sources } from '../../adapters/boards/queries.js';
import type { Snapshot, StatesView } from './open-states.js';
import { querySources } from './query-sources.js';
import type { InOwnWords } from '../../views/own-words.js';
import { taskAt } from '../../views/task-at.js';

interface Past {
  snapshot: Snapshot;
  /** A task as it was then; undefined if it did not exist. */
  task(id: string): Promise<Placed | undefined>;
  /** The tables of queries as they were then. */
  sources: Sources;
}

type EventsOf = (isWanted: (name: string, task: string | undefined) => boolean) => Event[];

/** `events`: the whole log, oldest first. */
export async function openPast(
  root: string,
  words: (isFar: boolean) => InOwnWords,
  states: StatesView,
  events: EventsOf,
  atIso: string,
): Promise<Past> {
  const present = await states.look();
  const { store } = states;
  const later = new Set(
    events((name) => ENDS.has(name)).flatMap(({ at, task }) => (at > atIso && task !== undefined ? [task] : [])),
  );
  const known = new Map<string, Placed>(present.open.map((placed) => [placed.task.id, placed]));
  for (const id of later) {
    const placed = known.has(id) ? undefined : await store.tasks.read(id);
    if (placed !== undefined) known.set(id, placed);
  }
  const byTask = grouped(events((_, task) => task !== undefined && known.has(task)));
  const then = [...known.values()].flatMap((placed) => taskAt(placed, byTask.get(placed.task.id) ?? [], atIso) ?? []);
  const open = then.filter((placed): placed is Placed & { state: OpenState } => !isEnded(placed.state)).map(heldThen);
  const snapshot: Snapshot = {
    agents: agentsAt(states, present.agents, open, atIso),
    roster: present.roster,
    open,
    forHuman: open.filter(({ task }) => isForHuman(task)),
    takers: new Map(),
    limitOf: present.limitOf,
    peers: present.peers,
    problems: [],
    brokenAgents: [],
    config: present.config,
  };
  const openById = new Map(open.map((placed) => [placed.task.id, placed]));
  return {
    snapshot,
    async task(id) {
      const found = openById.get(id) ?? (await store.tasks.read(id));
      return found === undefined || openById.has(id) ? found : taskAt(found, [], atIso);
    },
    sources: {
      ...querySources(root, words),
      tasks: async () => tableAt(await querySources(root, words).tasks(), open, atIso),
    },
  };
}

/** A request ends with its answer, which may be the only event about it. */
const ENDS: ReadonlySet<string> = new Set(['task.completed', 'task.failed', 'approval.answered']);

function grouped(events: readonly Event[]): Map<string, Event[]> {
  const groups = new Map<string, Event[]>();
  for (const event of events) {
    const group = groups.get(event.task!);
    if (group === undefined) groups.set(event.task!, [event]);
    else group.push(event);
  }
  return groups;
}

function heldThen(placed: Placed & { state: OpenState }): OpenTask {
  return { ...placed, held: placed.state === 'active' };
}

/**
 * The state that each agent of today had at that time: from its open tasks then, or else as last
 * published.
 */
function agentsAt(
  states: StatesView,
  agents: readonly AgentActivity[],
  open: readonly OpenTask[],
  atIso: string,
): AgentActivity[] {
  const last = new Map<string, AgentActivity>();
  for (const { at, task, body } of states.history()) {
    if (at > atIso || body.type !== 'state_change') continue;
    const { agent, toState: state, reason: why, trigger } = body;
    last.set(agent, { agent, state, why, trigger, tasks: task === undefined ? [] : [task], waitsFor: [] });
  }
  return agents.map(({ agent }) => {
    const noted = last.get(agent) ?? { agent, state: 'idle', why: '', trigger: '', tasks: [], waitsFor: [] };
    const started = open.filter(({ task, state }) => task.to === agent && state !== 'pending');
    if (started.length === 0) return noted;
    // A note is published after the change that it is about, so the tasks decide.
    const state = started.some((placed) => placed.state === 'active') ? 'working' : 'blocked';
    return { ...noted, state, why: state === noted.state ? noted.why : '', tasks: started.map(({ task }) => task.id) };
  });
}

/** Records that had ended by then stay as they are; the others are shown as they were then. */
function tableAt(now: Table, open: readonly OpenTask[], atIso: string): Table {
  const ended: Table = {
    size: now.size,
    columns: () => now.columns(),
    *rows(keys) {
      for (const each of now.rows([...keys, 'ended_at'])) {
        const at = each.row['ended_at'];
        if (typeof at === 'string' && at <= atIso) yield each;
      }
    },
  };
  return joinedTables(tableOf(open.map(taskRow)), ended);
}
