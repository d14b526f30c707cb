/** The processes that work on this workspace, and what each of them works on. */
import type { Snapshot } from '../../app/readers/open-states.js';
import { defined } from '../../domain/defined.js';
import type { Peer } from '../../domain/peer.js';
import { summary } from '../../views/summary.js';
import type { Machine, Machines } from '../base/contract.js';
import type { Feed } from '../base/feed.js';
import { titleOf } from '../base/title.js';
import { agentOf } from './rows.js';

export async function machinesOf(feed: Feed): Promise<Machines> {
  const { peers, open } = await feed.snapshot();
  const own = feed.states.store.presence.peer;
  return { machines: peers.filter(({ id }) => id !== own.id).map((peer) => machineOf(peer, own, open)) };
}

function machineOf(peer: Peer, own: Peer, open: Snapshot['open']): Machine {
  const { id, host, pid, since, agents } = peer;
  const tasks = open.flatMap(({ task, owner }) =>
    owner?.peer === id
      ? [defined({ id: task.id, title: titleOf(summary(task)), agent: agentOf({ task, owner }) })]
      : [],
  );
  return { id, host, pid, since, agents, tasks, isHere: host === own.host };
}
