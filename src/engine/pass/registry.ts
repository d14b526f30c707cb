/**
 * Keeps `agents/registry.json` right: written when the agents, the live processes or the agents' states have changed since this process last
 * wrote it. Every process that watches does so, but of very many only some when a process came or left; what they know is the same, so it does
 * not matter who writes last.
 */
import { isWarden } from '../../domain/peer.js';
import { registry as page } from '../../views/registry.js';
import type { EngineContext } from '../core/context.js';
import type { States } from './publish-states.js';

interface RegistryView {
  show(): Promise<void>;
  /** This process has left: it is struck out, if it ever wrote itself in. */
  left(): Promise<void>;
}

const FILE = 'agents/registry.json';
/** Others come and go while this is written; then it is written again. */
const MOST_TRIES = 5;

export function registry(context: EngineContext, states: Pick<States, 'told'>): RegistryView {
  const { agents } = context;
  let isShown = false;
  let key: unknown[] = [];
  /** One after the other: a page that was begun earlier must not be written last. */
  let last: Promise<void> = Promise.resolve();
  const next = (step: () => Promise<void>): Promise<void> => {
    const mine = last.then(step);
    last = mine.catch(() => undefined);
    return mine;
  };
  return {
    show: () => next(() => show()),
    left: () =>
      next(async () => {
        if (isShown) await show(true);
        isShown = false;
      }),
  };

  async function show(isLeaving = false): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const now = facts();
      const [first, ...others] = now.map((one, i) => one === key[i]);
      const isOld = others.every(Boolean) && (first || !(isLeaving || isOurs()));
      key = now;
      if (isShown && isOld) return;
      await write();
    }
  }

  function facts(): unknown[] {
    const told = states.told();
    const doing = [...agents.all().keys()].map((name) => told.get(name)?.state ?? 'idle').join(' ');
    return [context.presence.version(), agents.all(), doing];
  }

  /** Where many come and go, a few write it down for all. */
  function isOurs(): boolean {
    return isWarden(context.presence.rank());
  }

  async function write(): Promise<void> {
    const peers = await context.presence.peers();
    const told = states.told();
    const shown = page(agents.all().values(), peers, (name) => told.get(name)?.state);
    context.views.write(FILE, `${JSON.stringify(shown, null, 2)}\n`);
    isShown = true;
  }
}
