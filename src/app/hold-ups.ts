/**
 * What holds a task up that its record does not say: a turn that another has, an agent with no room, processes that have not agreed. For
 * people who ask why.
 */
import path from 'node:path';
import { bus } from '../adapters/bus.js';
import { clock } from '../adapters/clock.js';
import { disk } from '../adapters/disk.js';
import type { Task } from '../domain/task.js';
import { turnNeeded } from '../engine/who-waits.js';
import type { Store } from '../ports/store.js';
import { readConfig } from './read-config.js';
import { roster } from './roster.js';

export interface HoldUps {
  /** Who has the turn that this task needs, and in what. */
  turn(task: Task): { holder: string; of: string } | undefined;
  /** Its agent works on as many tasks as it may. */
  full(task: Task): string | undefined;
  /** Its work is done, and these processes have not said that they agree. */
  vote(task: Task): string | undefined;
}

export function holdUps(folder: string, store: Store): HoldUps {
  const root = path.resolve(folder);
  const on = disk();
  const agents = roster(on, root);
  agents.refresh();
  return {
    turn(task) {
      const key = turnNeeded({ agents }, task);
      const holder = key === undefined ? undefined : store.turnOf(key);
      if (key === undefined || holder === undefined || holder === task.id || holder === task.parent) return undefined;
      const resource = /^resource-(.*)$/.exec(key)?.[1];
      return {
        holder,
        of: resource === undefined ? `its turn in the conversation ${key}` : `the resource ${resource}`,
      };
    },
    full(task) {
      const most = task.to === undefined ? Infinity : (agents.all().get(task.to)?.maxConcurrentTasks ?? Infinity);
      const busy = [...store.open()].filter(({ owner, held }) => held && owner?.agent === task.to);
      if (busy.length < most) return undefined;
      return `${task.to} works on ${busy.map((one) => one.task.id).join(', ')}, and on no more than ${most} at once`;
    },
    vote(task) {
      const notes = bus({ root, disk: on, clock: clock() }).read('task').reverse();
      const probe = notes.find(({ body }) => body.type === 'completion_probe' && body.root === task.id)?.body;
      if (probe?.type !== 'completion_probe') return undefined;
      const { ballot, phase, peer } = probe;
      const voted = notes.flatMap(({ body }) =>
        body.type === 'completion_vote' && body.root === task.id && body.ballot === ballot && body.phase === phase
          ? [body.peer]
          : [],
      );
      const missing = store
        .peers()
        .filter(({ id, agents: named }) => named.length > 0 && id !== peer && !voted.includes(id));
      if (missing.length === 0) return undefined;
      const who = missing.map(({ id, pid }) => `${id} (pid ${pid})`).join(', ');
      const { voteMs } = readConfig(on, root, {}).config.coordination;
      return `its work is done, and process ${who} has not agreed; who does not answer within ${voteMs / 1000} s is left out`;
    },
  };
}
