/** Effect records under `.guild/run`: `<id>.started` before the effect, `<id>.done` after it. */
import path from 'node:path';
import type { Disk } from '../../../ports/disk.js';
import type { Effects } from '../../../ports/store/effects.js';
import { parseOutcome, printOutcome } from '../../../text/records/outcome.js';
import type { AtomicWrite } from '../base/atomic-write.js';
import type { Layout } from '../base/layout.js';
import { readJson } from '../base/read-json.js';

export function effects(disk: Disk, layout: Layout, writing: AtomicWrite, now: () => Date): Effects {
  const startedFile = (id: string): string => path.join(layout.run, `${id}.started`);
  const doneFile = (id: string): string => path.join(layout.run, `${id}.done`);
  return {
    async get(id) {
      const started = readJson<{ digest: string; at: string }>(disk, startedFile(id));
      if (started === undefined) return { state: 'none' };
      const done = disk.read(doneFile(id));
      const outcome = done.kind === 'file' ? parseOutcome(done.bytes.toString('utf8')) : undefined;
      if (outcome === undefined) return { state: 'started', digest: started.digest, at: started.at };
      return { state: 'done', digest: started.digest, outcome };
    },
    begin: (id, digest, what) =>
      writing.createOnce(startedFile(id), JSON.stringify({ digest, what, at: now().toISOString() })),
    async finish(id, outcome) {
      await writing.createOnce(doneFile(id), printOutcome(outcome));
    },
  };
}
