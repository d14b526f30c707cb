/**
 * History for a working process. Its code is loaded at the first commit, so that it does not slow
 * down the start.
 */
import type { Event } from '../domain/event.js';
import type { Audit } from '../engine/core/context.js';
import type { History } from '../ports/history.js';
import type { Store } from '../ports/store/index.js';
import type { HistoryOptions } from './readers/history.js';

export function lateHistory(options: HistoryOptions): Pick<History, 'commit' | 'close'> {
  let made: Promise<History> | undefined;
  const load = async (): Promise<History> =>
    (await import('./readers/history.js')).history({ ...options, background: true });
  return {
    commit: async (...args) => (await (made ??= load())).commit(...args),
    close: async () => (await made)?.close(),
  };
}

/** Passes every event of the store to the history as well. */
export function noted(store: Store, trail: Audit): Store {
  const append = (event: Event): void => {
    store.events.append(event);
    trail.note(event);
  };
  return { ...store, events: { ...store.events, append } };
}
