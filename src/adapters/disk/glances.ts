/** Stamps that are shared within a turn of the event loop. */
import path from 'node:path';

interface Glances {
  stampNow(file: string): string | undefined;
  glance(file: string): string | undefined;
  /** This process is about to change the file, and perhaps the names in its folder. */
  forget(file: string): void;
}

export function glancesOf(stampNow: (file: string) => string | undefined): Glances {
  const stamps = new Map<string, string | undefined>();
  return {
    stampNow,
    glance(file) {
      if (stamps.has(file)) return stamps.get(file);
      if (stamps.size === 0) setImmediate(() => stamps.clear());
      const stamp = stampNow(file);
      stamps.set(file, stamp);
      return stamp;
    },
    forget(file) {
      if (stamps.size === 0) return;
      stamps.delete(file);
      stamps.delete(path.dirname(file));
    },
  };
}
