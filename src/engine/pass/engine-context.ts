/** Adds the engine's own state to the ports. */
import { unreadableSessions } from '../conversation/unreadable.js';
import { listenToNotes } from '../coordination/mesh.js';
import type { EngineContext, Ports } from '../core/context.js';
import { factsFold } from '../core/message-facts.js';
import { outages } from '../core/outages.js';
import { pace } from '../core/pace.js';

export function engineContext(
  ports: Ports,
  own: Pick<EngineContext, 'queue' | 'waits' | 'votes' | 'effectsUnderWay' | 'lookAgain'>,
): EngineContext {
  return {
    ...ports,
    ...own,
    hearingNotes: new Set(),
    faults: new Set(),
    lastLook: { version: -1 },
    fitCache: new WeakMap(),
    folds: {
      heads: new Map(),
      headTokens: new WeakMap(),
      built: new WeakMap(),
      background: new WeakMap(),
      taint: new WeakMap(),
      facts: factsFold(),
    },
    heardNotes: listenToNotes(ports.bus),
    unreadable: unreadableSessions(ports),
    outages: outages(ports.clock, ports.watchers.problem),
    pace: pace(ports.clock, ports.config.limits.tasksPerMinute, ports.creationRate),
  };
}
