/**
 * Keeps `agents/registry.json` up to date with agents, live processes and agents' states. Every
 * watching process writes it; when processes come and go, only a few do. All of them write the same
 * content, so the order of the writes does not matter.
 */
import { isWarden } from '../../domain/peer.js';
import { registry as page } from '../../views/registry.js';
import type { EngineContext } from '../core/context.js';
import type { StatePublisher } from './publish-states.js';

interface RegistryView {
  showRegistry(): Promise<void>;
  /** Removes this process from the file, if it ever wrote it. */
  left(): Promise<void>;
}

const FILE = 'agents/registry.json';
/** The file is written again if processes come or go meanwhile. */
const MAX_WRITES = 5;

export function registry(context: EngineContext, publisher: Pick<StatePublisher, 'published'>): RegistryView {
  const { agents } = context;
  let isShown = false;
  let key: unknown[] = [];
  /** Writes run one after the other, so that an older version is never written last. */
  let last: Promise<void> = Promise.resolve();
  const next = (step: () => Promise<void>): Promise<void> => {
    const mine = last.then(step);
    last = mine.catch(() => undefined);
    return mine;
  };
  return {
    showRegistry: () => next(() => show()),
    left: () =>
      next(async () => {
        if (isShown) await show(true);
        isShown = false;
      }),
  };

  async function show(isLeaving = false): Promise<void> {
    for (let writes = 0; writes < MAX_WRITES; writes++) {
      const now = facts();
      const [first, ...others] = now.map((fact, i) => fact === key[i]);
      const isOld = others.every(Boolean) && (first || !(isLeaving || isOurs()));
      key = now;
      if (isShown && isOld) return;
      await write();
    }
  }

  function facts(): unknown[] {
    const published = publisher.published();
    const doing = [...agents.all().keys()].map((name) => published.get(name)?.state ?? 'idle').join(' ');
    return [context.presence.version(), agents.all(), doing];
  }

  /** Where many processes come and go, a few write for all. */
  function isOurs(): boolean {
    return isWarden(context.presence.rank());
  }

  async function write(): Promise<void> {
    const peers = await context.presence.peers();
    const published = publisher.published();
    const shown = page(agents.all().values(), peers, (name) => published.get(name)?.state);
    context.views.write(FILE, `${JSON.stringify(shown, null, 2)}\n`);
    isShown = true;
  }
}
