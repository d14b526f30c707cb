/**
 * What each agent is doing, read off the open tasks and a little that is remembered of ended ones. Nothing of it is the truth: the tree is.
 * Only tasks that somebody has begun count; the first line that fits says it:
 *
 *   paused    a person paused it
 *   error     its file cannot be read
 *   working   one of its tasks is held by a live process, or could go on now
 *   blocked   it has begun tasks, and all of them wait: for other tasks, for a person, for a time, for a process to take them up
 *   error     its last task failed, and it had none since (what a person ended, and what failed before it could begin, does not count)
 *   waiting   it did its part in a root that is still open, and has nothing to do: it is free to help
 *   complete  every root it took part in has ended
 *   idle      it never had work, or only tasks that nobody has begun
 */
import type { AgentState } from '../../domain/agent/agent-state.js';
import { compareText } from '../../domain/order.js';
import type { Problem } from '../../domain/problem.js';
import { ENGINE, HUMAN, type OpenState, type Placed, type Task } from '../../domain/task/task.js';
import { unfenced } from '../patterns/gather.js';
import { mayMove } from '../scheduling/ready.js';

export interface AgentDoing {
  agent: string;
  state: AgentState;
  /** Tasks that make it so. */
  tasks: string[];
  /** Who must act before it can go on: agents, or `human`. */
  waitsFor: string[];
  why: string;
  /** What happened, and to what: `task.claimed t1`. */
  trigger: string;
}

export type Standing = Placed & { state: OpenState; held: boolean };

/** What the open tasks do not say of an agent. */
export interface Past {
  /** It had work at some time. */
  worked: boolean;
  /** Roots it took part in. Those that have ended do not matter any more. */
  roots: Iterable<string>;
  /** The last of its tasks that ended. */
  last?: string;
  /** Why that one failed, where that is its own fault. */
  failed?: string;
}

export interface Tree {
  isOpen(id: string): boolean;
  /** Who has this open task, for whoever waits for it. */
  takerOf(id: string): string | undefined;
  /** Of these tasks, those of an agent that nobody has begun. */
  unbegun(agent: string, among: Iterable<string>): Standing[];
  nowIso: string;
  /** Paused agents, and why. */
  paused: ReadonlyMap<string, string>;
  /** Agents whose file cannot be read, and what is wrong with it. */
  unreadable: ReadonlyMap<string, Problem>;
  /** What is wrong with the file of an open task that cannot be read. */
  heldFile?: ((id: string) => Problem | undefined) | undefined;
}

export const NO_PAST: Past = { worked: false, roots: [] };

/** Every agent of the workspace, and whoever has open tasks besides. Linear in agents and open tasks. */
export function agentStates(
  agents: Iterable<string>,
  open: Iterable<Standing>,
  given: Pick<Tree, 'nowIso' | 'paused' | 'unreadable' | 'heldFile'> & { past?(agent: string): Past },
): AgentDoing[] {
  const { begun, ...seen } = byAgent(open);
  const tree: Tree = { ...given, ...seen };
  const names = new Set([...agents, ...given.unreadable.keys(), ...begun.keys()]);
  names.delete(HUMAN);
  return [...names]
    .sort(compareText)
    .map((agent) => stateOf(agent, begun.get(agent) ?? [], given.past?.(agent) ?? NO_PAST, tree));
}

/** The begun tasks of each agent, and what is asked of the open ones. One look at each; `find` knows others that are open and that nobody has begun. */
export function byAgent(
  open: Iterable<Standing>,
  find: (id: string) => Standing | undefined = () => undefined,
): { begun: ReadonlyMap<string, readonly Standing[]> } & Pick<Tree, 'isOpen' | 'takerOf' | 'unbegun'> {
  const begun = new Map<string, Standing[]>();
  const others = new Map<string, Standing>();
  const takers = new Map<string, string | undefined>();
  /** Tasks that nobody does, and what they wait for: whoever does that is waited for. */
  const needs = new Map<string, readonly string[]>();
  for (const one of open) {
    const who = one.task.to ?? one.owner?.agent;
    takers.set(one.task.id, who);
    if (who === ENGINE) needs.set(one.task.id, needed(one));
    if (who === undefined || who === HUMAN || who === ENGINE) continue;
    const his = begun.get(who);
    if (!isBegun(one)) others.set(one.task.id, one);
    else if (his === undefined) begun.set(who, [one]);
    else his.push(one);
  }
  return { begun, isOpen, takerOf, unbegun };

  function isOpen(id: string): boolean {
    return takers.has(id) || find(id) !== undefined;
  }

  function unbegun(agent: string, among: Iterable<string>): Standing[] {
    const found: Standing[] = [];
    for (const id of among) {
      const one = others.get(id) ?? (takers.has(id) ? undefined : find(id));
      if (one?.task.to === agent && !isBegun(one)) found.push(one);
    }
    return found;
  }

  function takerOf(id: string): string | undefined {
    const seen = new Set<string>();
    let at: string | undefined = id;
    while (at !== undefined && needs.has(at) && !seen.has(at)) {
      seen.add(at);
      at = needs.get(at)!.find(isOpen);
    }
    return at === undefined || needs.has(at) ? undefined : (takers.get(at) ?? find(at)?.task.to);
  }
}

/** Somebody has it, or had it. A record that a lost process left behind may not say more than that it was lost. */
function isBegun({ task, state }: Standing): boolean {
  return state !== 'pending' || task.claimed_at !== undefined || task.attempts > 0;
}

export function stateOf(agent: string, tasks: readonly Standing[], past: Past, tree: Tree): AgentDoing {
  const paused = tree.paused.get(agent);
  if (paused !== undefined)
    return said(agent, 'paused', ids(tasks), `paused${paused && `: ${paused}`}`, `paused ${agent}`);
  const broken = tree.unreadable.get(agent);
  if (broken !== undefined)
    return said(agent, 'error', ids(tasks), broken.message, `file.held ${broken.where?.file ?? agent}`);
  return tasks.length > 0 ? busy(agent, tasks, tree) : free(agent, past, tree);
}

function busy(agent: string, tasks: readonly Standing[], tree: Tree): AgentDoing {
  const held = tasks.filter((one) => one.held);
  if (held.length > 0)
    return said(agent, 'working', ids(held), short(held[0]!.task), `task.claimed ${held[0]!.task.id}`);
  const isOpen = (id: string): boolean => tree.isOpen(id) || tree.heldFile?.(id) !== undefined;
  const can = ({ task, state }: Standing): boolean =>
    state !== 'active' && task.waits?.file === undefined && mayMove(task, state, isOpen, tree.nowIso);
  const needs = new Set(tasks.flatMap(needed).filter(isOpen));
  // What it waits for may be work of its own that is yet to begin.
  const next = tree.unbegun(agent, needs);
  const able = [...tasks, ...next].filter(can);
  if (able.length > 0) return said(agent, 'working', ids(able), 'can go on', `task.ready ${able[0]!.task.id}`);
  const lost = tasks.filter((one) => one.state === 'active');
  if (lost.length > 0)
    return said(
      agent,
      'blocked',
      ids(lost),
      'its process is gone; guild pump or guild watch goes on',
      `process.lost ${lost[0]!.task.id}`,
    );
  const first = tasks[0]!.task;
  const waitsFor = [...new Set([...needs].map((id) => tree.takerOf(id) ?? 'nobody yet'))];
  const time =
    first.waits?.file === undefined ? (first.waits?.until ?? 'something changes') : `${first.waits.file} can be read`;
  const why = needs.size > 0 ? `for ${listed([...needs], tree)}` : `until ${time}`;
  return { ...said(agent, 'blocked', ids(tasks), why, `task.parked ${first.id}`), waitsFor };
}

function free(agent: string, past: Past, tree: Tree): AgentDoing {
  const last = past.last === undefined ? [] : [past.last];
  if (past.failed !== undefined) return said(agent, 'error', last, past.failed, `task.failed ${past.last}`);
  const all = [...past.roots];
  const roots = all.filter(tree.isOpen);
  if (roots.length > 0)
    return said(agent, 'waiting', roots, `its part of ${few(roots)} is done`, `task.ended ${past.last ?? roots[0]}`);
  if (!past.worked) return said(agent, 'idle', [], '', '');
  const end = all.at(-1) ?? past.last;
  return said(
    agent,
    'complete',
    [],
    'all it took part in has ended',
    end === undefined ? 'work.ended' : `task.ended ${end}`,
  );
}

function said(agent: string, state: AgentState, tasks: string[], why: string, trigger: string): AgentDoing {
  return { agent, state, tasks, waitsFor: [], why, trigger };
}

/** What a task that cannot go on waits for. */
export function needed({ task, state }: { task: Task; state: string }): string[] {
  return state === 'pending' ? task.dependencies : (task.waits?.tasks ?? []);
}

const MOST_NAMED = 3;

function listed(needs: readonly string[], tree: Tree): string {
  return few(
    needs.map((id) => {
      if (tree.heldFile?.(id) !== undefined) return `${id}, whose file cannot be read`;
      const who = tree.takerOf(id);
      return who === HUMAN ? `you (${id})` : id;
    }),
  );
}

function few(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** The beginning of what was asked, in one line. */
function short({ description }: Task): string {
  const line = unfenced(description.slice(0, 4 * MOST_SAID))
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= MOST_SAID ? line : `${line.slice(0, MOST_SAID - 1)}…`;
}

const MOST_SAID = 100;

function ids(tasks: readonly Placed[]): string[] {
  return tasks.map((one) => one.task.id);
}
