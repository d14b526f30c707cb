/** `guild agent move`: from now on, an agent that has a home runs on another machine. */
import { disk } from '../../adapters/disk/index.js';
import { problemError } from '../../domain/problem.js';
import { HUMAN } from '../../domain/task/task.js';
import { HOME, parseHome, type Home } from '../far/homes.js';
import { openFarReader } from '../readers/open-reader.js';

interface Moved {
  agent: string;
  from?: string;
  to: string;
  /** Whether a process lives on the new machine. */
  isLive: boolean;
}

/** Durable when resolved. Nothing of its files is copied. */
export async function moveAgent(root: string, agent: string, to: string): Promise<Moved> {
  const store = openFarReader(disk(), root);
  if (store === undefined)
    throw problemError('bad_usage', 'the work of this workspace is on one machine, so its agents have no homes', {
      hint: 'see guild store --help for several machines',
    });
  try {
    const shelf = store.far.shelf(HOME);
    await store.tasks.scan();
    for (;;) {
      const held = await shelf.read(agent);
      const before = held && parseHome(held.value)?.host;
      if (!(await shelf.replace(agent, held, JSON.stringify({ host: to } satisfies Home)))) continue;
      const at = new Date().toISOString();
      const peer = store.presence.peer.id;
      store.events.append({ at, name: 'home.moved', peer, agent, cause: HUMAN, from: before, to });
      await store.flush();
      const isLive = (await store.presence.peers()).some(({ host }) => host === to);
      return { agent, from: before, to, isLive };
    }
  } finally {
    await store.close();
  }
}
