/**
 * Tasks whose conversation cannot be read, for example in the middle of an edit or a merge. Each is
 * reported once, then skipped until its file changes, so that retries do not fill the history. Kept
 * in memory only: a restarted process reports them once more.
 */
import type { Store } from '../../ports/store/index.js';
import type { UnreadableSessions } from '../core/context.js';

export function unreadableSessions(store: Pick<Store, 'sessions' | 'tasks'>): UnreadableSessions {
  const unreadable = new Map<string, { session: string; stamp: string }>();
  return {
    add(task, session, stamp) {
      for (const id of unreadable.keys()) if (!store.tasks.isOpen(id)) unreadable.delete(id);
      unreadable.set(task, { session, stamp });
    },
    async look() {
      for (const [task, entry] of [...unreadable]) {
        const isSame = (await store.sessions.stamp(entry.session)) === entry.stamp;
        if (!isSame && unreadable.get(task) === entry) unreadable.delete(task);
      }
      return new Set(unreadable.keys());
    },
  };
}
