/**
 * Agents that run on certain machines only: `runs_on` names the labels that a machine must have.
 * Where several machines share a store, such an agent also has a home, because its files and its
 * repository are there. It stays there while a process lives on that machine.
 */
import type { Env } from '../../domain/config/env.js';
import { parseMapping } from '../../domain/mapping.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { Shelf } from '../../adapters/far/shelf.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import type { Store } from '../../ports/store/index.js';
import type { Tasks } from '../../ports/store/tasks.js';

export const HOME = 'home/';

export interface Home {
  host: string;
}

interface HomesGround {
  agents: { all(): ReadonlyMap<string, Pick<Agent, 'runsOn'>> };
  host: string;
  labels: ReadonlySet<string>;
  /** Absent where all work is on one machine. */
  homes?: Shelf;
  /** The machines with a live process. */
  hosts(): Promise<ReadonlySet<string>>;
  /** Called when the home of an agent was gone and is now here. */
  moved(agent: string, from: string): void;
  /** Called once for an entry that names no machine; its agent runs nowhere until it is moved. */
  unreadable(agent: string, problem: Problem): void;
}

interface Homes {
  /**
   * Takes the home of an agent with its first claim, and claims nothing that must run elsewhere.
   */
  tasks: Tasks;
  /**
   * Whether this machine may run the agent, and work on its task, as of the last scan. A task that
   * has read secrets stays on the machine that keeps them while a process lives there.
   */
  isHere(agent: string, task?: Task): boolean;
}

export function homesOf(
  store: Store,
  { agents, env, homes, report }: Pick<HomesGround, 'agents' | 'homes'> & { env: Env; report(problem: Problem): void },
): Homes {
  const { host, id: peer } = store.presence.peer;
  return withHomes(store.tasks, {
    agents,
    host,
    labels: labelsOf(host, env),
    homes,
    hosts: async () => new Set((await store.presence.peers()).map((each) => each.host)),
    moved(agent, from) {
      const why = `no process runs on ${from} any more`;
      store.events.append({ at: new Date().toISOString(), name: 'home.moved', peer, agent, from, to: host, why });
      report(problem('taker_lost', `the home of ${agent} is ${host} from now on: ${why}`));
    },
    unreadable: (_, held) => report(held),
  });
}

export function labelsOf(host: string, env: Env): ReadonlySet<string> {
  return new Set([host, ...(env['GUILD_LABELS'] ?? '').split(/[\s,]+/)].filter(Boolean));
}

export function withHomes(tasks: Tasks, ground: HomesGround): Homes {
  const { agents, host, labels, homes, hosts, moved, unreadable } = ground;
  const reported = new Set<string>();
  let live: ReadonlySet<string> = new Set();
  const wantedBy = (agent: string): readonly string[] => agents.all().get(agent)?.runsOn ?? [];
  return {
    isHere,
    tasks: {
      ...tasks,
      async scan(isFull) {
        const scanned = await tasks.scan(isFull);
        if (homes !== undefined) live = await hosts();
        return scanned;
      },
      async claim(id, agent, options) {
        return (await isHome(agent)) ? tasks.claim(id, agent, options) : undefined;
      },
      async takeOver(id) {
        const owner = tasks.getOpen(id)?.owner;
        return owner === undefined || (await isHome(owner.agent)) ? tasks.takeOver(id) : undefined;
      },
      async orphans() {
        return (await tasks.orphans()).filter((id) => isHere(tasks.getOpen(id)?.owner?.agent ?? ''));
      },
    },
  };

  function isHere(agent: string, task?: Task): boolean {
    const keeper = task?.written?.secrets_on;
    if (homes !== undefined && keeper !== undefined && keeper !== host && live.has(keeper)) return false;
    const wanted = wantedBy(agent);
    if (wanted.length === 0) return true;
    if (!wanted.every((label) => labels.has(label))) return false;
    const held = homes?.get(agent);
    if (held === undefined) return true;
    const home = parseHome(held.value);
    if (home === undefined) report(agent, held.value);
    return home !== undefined && (home.host === host || !live.has(home.host));
  }

  function report(agent: string, value: string): void {
    const known = `${agent} ${value}`;
    if (reported.has(known)) return;
    reported.add(known);
    const message = `the entry ${HOME}${agent} in the store names no machine, so ${agent} runs nowhere`;
    unreadable(agent, problem('bad_field', message, { hint: `name its machine: guild agent move ${agent} <machine>` }));
  }

  /** Takes the home if it is free. False: another machine has it. */
  async function isHome(agent: string): Promise<boolean> {
    while (isHere(agent)) {
      const held = wantedBy(agent).length === 0 ? undefined : homes?.get(agent);
      const home = held === undefined ? undefined : parseHome(held.value);
      if (homes === undefined || wantedBy(agent).length === 0 || home?.host === host) return true;
      if (!(await homes.replace(agent, held, JSON.stringify({ host } satisfies Home)))) continue;
      if (home !== undefined) moved(agent, home.host);
      return true;
    }
    return false;
  }
}

/** Undefined: the value names no machine. Anybody with the rights of a worker can write it. */
export function parseHome(value: string): Home | undefined {
  const host = parseMapping(value)?.['host'];
  return typeof host === 'string' && host !== '' ? { host } : undefined;
}
