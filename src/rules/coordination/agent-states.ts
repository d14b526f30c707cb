/**
 * Derives the state of each agent from the open tasks and a summary of the ended ones. The task
 * tree is the source of truth. Only started tasks count, and the first matching line below applies.
 */
// paused    a person paused it
// error     its file cannot be read
// working   a live process holds one of its tasks, or one can continue now
// blocked   it has started tasks, and all wait: for tasks, a person, a time, or a process
// error     its last task failed (cancelled tasks and failed dependencies do not count)
// waiting   it finished its part of a root that is still open: it is free to help
// complete  every root it took part in has ended
// idle      it never had work, or only tasks that have not started
import type { AgentState } from '../../domain/agent/agent-state.js';
import { roleFacts } from '../../domain/task/role.js';
import { compareText } from '../../domain/order.js';
import type { Problem } from '../../domain/problem.js';
import { ENGINE, HUMAN, type OpenState, type Placed, type Task } from '../../domain/task/task.js';
import { unfenced } from '../patterns/gather.js';
import { mayMove } from '../scheduling/ready.js';

export interface AgentActivity {
  agent: string;
  state: AgentState;
  tasks: string[];
  /** Agents, or `human`, that must act before the agent can continue. */
  waitsFor: string[];
  why: string;
  /** An event and its subject: `task.claimed t1`. */
  trigger: string;
}

/** `held`: a live process holds the claim. */
export type OpenTask = Placed & { state: OpenState; held: boolean };

/** An agent's past, which the open tasks do not show. */
export interface Past {
  /** The agent has had work before. */
  worked: boolean;
  /** Roots it took part in, open or ended. */
  roots: Iterable<string>;
  last?: string;
  /** Why that task failed, if the agent caused it. */
  failed?: string;
}

export interface Tree {
  isOpen(id: string): boolean;
  assigneeOf(id: string): string | undefined;
  /** The tasks among these that belong to the agent and have not started. */
  unstarted(agent: string, among: Iterable<string>): OpenTask[];
  nowIso: string;
  paused: ReadonlyMap<string, string>;
  /** Agents whose file cannot be read, and what is wrong with it. */
  unreadable: ReadonlyMap<string, Problem>;
  /** The problem of an open task whose file cannot be read. */
  unreadableTask?: ((id: string) => Problem | undefined) | undefined;
}

export const NO_PAST: Past = { worked: false, roots: [] };

/**
 * Covers every agent of the workspace and every other agent with open tasks. Linear in agents and
 * tasks.
 */
export function agentStates(
  agents: Iterable<string>,
  open: Iterable<OpenTask>,
  facts: Pick<Tree, 'nowIso' | 'paused' | 'unreadable' | 'unreadableTask'> & { past?(agent: string): Past },
): AgentActivity[] {
  const { started, ...lookups } = byAgent(open);
  const tree: Tree = { ...facts, ...lookups };
  const names = new Set([...agents, ...facts.unreadable.keys(), ...started.keys()]);
  names.delete(HUMAN);
  return [...names]
    .sort(compareText)
    .map((agent) => stateOf(agent, started.get(agent) ?? [], facts.past?.(agent) ?? NO_PAST, tree));
}

/**
 * The started tasks of each agent, and lookups over all open tasks, in one iteration. `find`
 * returns open tasks that are not in `open`; they must not have started.
 */
export function byAgent(
  open: Iterable<OpenTask>,
  find: (id: string) => OpenTask | undefined = () => undefined,
): { started: ReadonlyMap<string, readonly OpenTask[]> } & Pick<Tree, 'isOpen' | 'assigneeOf' | 'unstarted'> {
  const started = new Map<string, OpenTask[]>();
  const others = new Map<string, OpenTask>();
  const assignees = new Map<string, string | undefined>();
  /** Tasks that no agent works on, and what they wait for. */
  const needs = new Map<string, readonly string[]>();
  for (const entry of open) {
    const assignee = entry.task.to ?? entry.owner?.agent;
    assignees.set(entry.task.id, assignee);
    if (assignee === ENGINE) needs.set(entry.task.id, needed(entry));
    if (assignee === undefined || assignee === HUMAN || assignee === ENGINE) continue;
    if (roleFacts(entry.task.role).isSchedule) continue;
    const tasks = started.get(assignee);
    if (!isStarted(entry)) others.set(entry.task.id, entry);
    else if (tasks === undefined) started.set(assignee, [entry]);
    else tasks.push(entry);
  }
  return { started, isOpen, assigneeOf, unstarted };

  function isOpen(id: string): boolean {
    return assignees.has(id) || find(id) !== undefined;
  }

  function unstarted(agent: string, among: Iterable<string>): OpenTask[] {
    const tasks: OpenTask[] = [];
    for (const id of among) {
      const entry = others.get(id) ?? (assignees.has(id) ? undefined : find(id));
      if (entry?.task.to === agent && !isStarted(entry)) tasks.push(entry);
    }
    return tasks;
  }

  function assigneeOf(id: string): string | undefined {
    const seen = new Set<string>();
    let at: string | undefined = id;
    while (at !== undefined && needs.has(at) && !seen.has(at)) {
      seen.add(at);
      at = needs.get(at)!.find(isOpen);
    }
    return at === undefined || needs.has(at) ? undefined : (assignees.get(at) ?? find(at)?.task.to);
  }
}

/** A lost process may leave only the number of attempts behind. */
function isStarted({ task, state }: OpenTask): boolean {
  return state !== 'pending' || task.claimed_at !== undefined || task.attempts > 0;
}

export function stateOf(agent: string, tasks: readonly OpenTask[], past: Past, tree: Tree): AgentActivity {
  const paused = tree.paused.get(agent);
  if (paused !== undefined)
    return activity(agent, 'paused', ids(tasks), `paused${paused && `: ${paused}`}`, `paused ${agent}`);
  const broken = tree.unreadable.get(agent);
  if (broken !== undefined)
    return activity(agent, 'error', ids(tasks), broken.message, `file.held ${broken.where?.file ?? agent}`);
  return tasks.length > 0 ? busy(agent, tasks, tree) : free(agent, past, tree);
}

function busy(agent: string, tasks: readonly OpenTask[], tree: Tree): AgentActivity {
  const held = tasks.filter((entry) => entry.held);
  if (held.length > 0)
    return activity(agent, 'working', ids(held), short(held[0]!.task), `task.claimed ${held[0]!.task.id}`);
  const isOpen = (id: string): boolean => tree.isOpen(id) || tree.unreadableTask?.(id) !== undefined;
  const isReady = ({ task, state }: OpenTask): boolean =>
    state !== 'active' && task.waits?.file === undefined && mayMove(task, state, isOpen, tree.nowIso);
  const needs = new Set(tasks.flatMap(needed).filter(isOpen));
  // The agent may wait for its own task that has not started.
  const ready = [...tasks, ...tree.unstarted(agent, needs)].filter(isReady);
  if (ready.length > 0)
    return activity(agent, 'working', ids(ready), 'can continue', `task.ready ${ready[0]!.task.id}`);
  const lost = tasks.filter((entry) => entry.state === 'active');
  if (lost.length > 0)
    return activity(
      agent,
      'blocked',
      ids(lost),
      'its process is gone; guild pump or guild watch resumes it',
      `process.lost ${lost[0]!.task.id}`,
    );
  const first = tasks[0]!.task;
  const waitsFor = [...new Set([...needs].map((id) => tree.assigneeOf(id) ?? 'nobody yet'))];
  const time =
    first.waits?.file === undefined ? (first.waits?.until ?? 'something changes') : `${first.waits.file} can be read`;
  const why = needs.size > 0 ? `for ${listed([...needs], tree)}` : `until ${time}`;
  return { ...activity(agent, 'blocked', ids(tasks), why, `task.parked ${first.id}`), waitsFor };
}

function free(agent: string, past: Past, tree: Tree): AgentActivity {
  const last = past.last === undefined ? [] : [past.last];
  if (past.failed !== undefined) return activity(agent, 'error', last, past.failed, `task.failed ${past.last}`);
  const all = [...past.roots];
  const roots = all.filter(tree.isOpen);
  const part = `its part of ${few(roots)} is done`;
  if (roots.length > 0) return activity(agent, 'waiting', roots, part, `task.ended ${past.last ?? roots[0]}`);
  if (!past.worked) return activity(agent, 'idle', [], '', '');
  const end = all.at(-1) ?? past.last;
  const trigger = end === undefined ? 'work.ended' : `task.ended ${end}`;
  return activity(agent, 'complete', [], 'everything it took part in has ended', trigger);
}

function activity(agent: string, state: AgentState, tasks: string[], why: string, trigger: string): AgentActivity {
  return { agent, state, tasks, waitsFor: [], why, trigger };
}

export function needed({ task, state }: { task: Task; state: string }): string[] {
  return state === 'pending' ? task.dependencies : (task.waits?.tasks ?? []);
}

const MAX_NAMES = 3;

function listed(needs: readonly string[], tree: Tree): string {
  const isForHuman = (id: string): boolean => tree.unreadableTask?.(id) === undefined && tree.assigneeOf(id) === HUMAN;
  const yours = needs.filter(isForHuman);
  const others = needs.filter((id) => !isForHuman(id));
  return few([
    ...(yours.length === 0 ? [] : [`you (${yours.length === 1 ? yours[0] : `${yours.length} requests`})`]),
    ...others.map((id) => (tree.unreadableTask?.(id) === undefined ? id : `${id}, whose file cannot be read`)),
  ]);
}

function few(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function short({ description }: Task): string {
  const line = unfenced(description.slice(0, 4 * MAX_LINE))
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE - 1)}…`;
}

const MAX_LINE = 100;

function ids(tasks: readonly Placed[]): string[] {
  return tasks.map(({ task }) => task.id);
}
