/**
 * Keeps `agents/registry.json` right: written when the agents, the live processes or the agents' states have changed since this process last
 * wrote it. Every process that watches does so; what they know is the same, so it does not matter who writes last.
 */
import { registry as page } from '../rules/registry.js';
import type { Parts } from './parts.js';
import type { States } from './states.js';

export interface RegistryView {
  show(): void;
  /** Without this process, which is about to leave. */
  leave(): void;
}

const FILE = 'agents/registry.json';

export function registry(parts: Parts, states: Pick<States, 'told'>): RegistryView {
  const { store, agents } = parts;
  let isShown = false;
  let key: unknown[] = [];
  return {
    show() {
      const told = states.told();
      const doing = [...agents.all().keys()].map((name) => told.get(name)?.state ?? 'idle').join(' ');
      const now = [agents.all(), store.peersStamp?.(), doing];
      if (isShown && now.every((one, i) => one === key[i])) return;
      key = now;
      write(store.peers());
    },
    leave() {
      if (isShown) write(store.peers().filter((peer) => peer.id !== store.peer.id));
      isShown = false;
    },
  };

  function write(peers: ReturnType<typeof store.peers>): void {
    const told = states.told();
    const text = `${JSON.stringify(
      page(agents.all().values(), peers, (name) => told.get(name)?.state),
      null,
      2,
    )}\n`;
    store.showFile(FILE, text);
    isShown = true;
  }
}
