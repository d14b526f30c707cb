/**
 * Processes that have not voted on the completion of a root. `guild why` shows them, because
 * neither the record nor the wait-for graph contains them.
 */
import path from 'node:path';
import { bus } from '../../adapters/bus/index.js';
import { ledgerBus } from '../../adapters/bus/ledger.js';
import { clock } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import type { Task } from '../../domain/task/task.js';
import type { Store } from '../../ports/store/index.js';
import { farPartsOf } from './open-reader.js';
import { readConfig } from './read-config.js';

export interface HoldUps {
  /** Says which processes have not agreed yet, if the work of the task is done. */
  vote(task: Task): Promise<string | undefined>;
}

export function holdUps(folder: string, store: Store): HoldUps {
  const root = path.resolve(folder);
  const disk = realDisk();
  return {
    async vote(task) {
      const parts = farPartsOf(store);
      const channels = parts ? ledgerBus({ ...parts, clock: clock() }) : bus({ root, disk, clock: clock() });
      await channels.refresh();
      const notes = channels.read('task').reverse();
      const probe = notes.find(({ body }) => body.type === 'completion_probe' && body.root === task.id)?.body;
      if (probe?.type !== 'completion_probe') return undefined;
      const { ballot, phase, peer } = probe;
      const voted = notes.flatMap(({ body }) =>
        body.type === 'completion_vote' && body.root === task.id && body.ballot === ballot && body.phase === phase
          ? [body.peer]
          : [],
      );
      const peers = await store.presence.peers();
      const missing = peers.filter(({ id, agents }) => agents.length > 0 && id !== peer && !voted.includes(id));
      if (missing.length === 0) return undefined;
      const who = missing.map(({ id, pid }) => `${id} (pid ${pid})`).join(', ');
      const { voteMs } = readConfig(disk, root, {}).config.coordination;
      return `its work is done, and process ${who} has not agreed; a process that does not answer within ${voteMs / 1000} s is left out`;
    },
  };
}
