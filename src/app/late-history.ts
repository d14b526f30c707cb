/** History for a process that works: its code is loaded when there is first something to commit, so that starting does not wait for it. */
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
    commit: async (...said) => (await (made ??= load())).commit(...said),
    close: async () => (await made)?.close(),
  };
}

/** Every line of the store's events also goes to history. */
export function noted(store: Store, trail: Audit): Store {
  const append = (event: Event): void => {
    store.events.append(event);
    trail.note(event);
  };
  return { ...store, events: { ...store.events, append } };
}
