/**
 * The paths of a workspace and the names of claimed files. Paths are built only here, never by
 * replacing text in a path.
 */
import path from 'node:path';
import type { Disk } from '../../../ports/disk.js';
import { TASK_STATES, type TaskState } from '../../../domain/task/task.js';
import { writtenAt } from '../../../domain/stamp.js';

export interface Layout {
  root: string;
  tasks(state: TaskState): string;
  task(state: Exclude<TaskState, 'active'>, id: string): string;
  claimed(id: string, agent: string, peer: string): string;
  sessions: string;
  session(id: string): string;
  results: string;
  result(id: string): string;
  blobs: string;
  paused: string;
  events: string;
  live: string;
  quarantine: string;
  intents: string;
  run: string;
  effect(id: string): string;
  turns: string;
  tmp: string;
  torn: string;
  journal: string;
  evidence: string;
}

export function layout(root: string): Layout {
  const at = (...parts: string[]): string => path.join(root, ...parts);
  // Joined once: these paths are built many times in every run, and `join` reads each letter.
  const states = Object.fromEntries(TASK_STATES.map((state) => [state, at('tasks', state)])) as Record<
    TaskState,
    string
  >;
  const [sessions, results, run] = [at('sessions'), at('results'), at('.guild', 'run')];
  return {
    root,
    tasks: (state) => states[state],
    task: (state, id) => `${states[state]}${path.sep}${id}.json`,
    claimed: (id, agent, peer) => `${states.active}${path.sep}${claimName(id, agent, peer)}`,
    sessions,
    session: (id) => `${sessions}${path.sep}${id}.session.yaml`,
    results,
    result: (id) => `${results}${path.sep}${id}.md`,
    blobs: at('storage', 'blobs'),
    paused: at('storage', 'paused'),
    events: at('events'),
    live: at('agents', 'live'),
    quarantine: at('quarantine'),
    intents: at('.guild', 'intents'),
    run,
    effect: (id) => `${run}${path.sep}${id}.started`,
    turns: at('.guild', 'turns'),
    tmp: at('.guild', 'tmp'),
    torn: at('.guild', 'torn'),
    journal: at('.guild', 'journal'),
    evidence: at('.guild', 'evidence'),
  };
}

/** The folders that must exist before anything is written. */
export function folders(layout: Layout): string[] {
  const states = (['pending', 'active', 'waiting', 'completed', 'failed'] as const).map((state) => layout.tasks(state));
  return [
    ...states,
    layout.sessions,
    layout.results,
    layout.blobs,
    layout.paused,
    layout.events,
    layout.live,
    layout.intents,
    layout.run,
    layout.turns,
    layout.tmp,
    layout.torn,
    layout.journal,
    layout.evidence,
  ];
}

/** Extension of a claim that is being settled, so that no process takes it for a claim. */
export const LEAVING = '.leaving';

/** The name of a claim before it was being settled. */
export function withoutLeaving(name: string): string {
  return name.endsWith(LEAVING) ? name.slice(0, -LEAVING.length) : name;
}

/**
 * `<id>_<agent>-<peer>.json`. In the agent's name `_` becomes `-`, so the last `_` always ends the
 * id. The name is the fence: the process that can rename it owns the task.
 */
export function claimName(id: string, agent: string, peer: string): string {
  return `${id}_${agentInClaim(agent)}-${peer}.json`;
}

/** An agent's name as `parseClaimName` returns it. */
export function agentInClaim(agent: string): string {
  return agent.replaceAll('_', '-');
}

export interface ClaimName {
  id: string;
  agent: string;
  peer: string;
  leaving: boolean;
}

/**
 * Undefined for a name that is not a claim; a foreign file in `active` is identified by its
 * content.
 */
export function parseClaimName(name: string): ClaimName | undefined {
  const leaving = name.endsWith(LEAVING);
  const base = withoutLeaving(name);
  const match = /^(.+)_([A-Za-z0-9.-]+)-([a-z0-9]{6,})\.json$/.exec(base);
  if (!match) return undefined;
  return { id: match[1]!, agent: match[2]!, peer: match[3]!, leaving };
}

/** Temporary files of editors and of unfinished writes are not tasks. */
export function isTaskFile(name: string): boolean {
  return name.endsWith('.json') && !name.startsWith('.') && !name.startsWith('#');
}

/**
 * Two changes within one tick of the kernel's clock leave the same time on a folder, so a young
 * stamp is not trusted.
 */
const YOUNG_MS = 50;

/** Whether the folder had been quiet long enough that any later change gives it another stamp. */
export function isSettled(stamp: string | undefined, now: Date): boolean {
  return stamp !== undefined && now.getTime() - Number(writtenAt(stamp) / 1_000_000n) > YOUNG_MS;
}

export function isWorkspace(disk: Disk, folder: string): boolean {
  return (
    disk.stamp(path.join(folder, 'guild.yaml')) !== undefined || disk.stamp(path.join(folder, 'tasks')) !== undefined
  );
}
