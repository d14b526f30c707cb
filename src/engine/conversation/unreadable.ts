/**
 * Tasks whose conversation cannot be read: a person is in the middle of an edit, or a merge left its marks. Each is told once and left alone until
 * its file is another; to claim and park it again and again would fill history and say the same for ever. Only memory: whoever starts tells it once more.
 */
import type { Store } from '../../ports/store/index.js';
import type { UnreadableSessions } from '../core/context.js';

export function unreadableSessions(store: Pick<Store, 'sessions' | 'tasks'>): UnreadableSessions {
  const known = new Map<string, { session: string; stamp: string }>();
  return {
    add(task, session, stamp) {
      for (const id of known.keys()) if (!store.tasks.isOpen(id)) known.delete(id);
      known.set(task, { session, stamp });
    },
    async look() {
      for (const [task, held] of [...known]) {
        const isSame = (await store.sessions.stamp(held.session)) === held.stamp;
        if (!isSame && known.get(task) === held) known.delete(task);
      }
      return new Set(known.keys());
    },
  };
}
