/** The loop over `fetch` with a journal: each step is a line, durable before the next one. */
import fs from 'node:fs';
import path from 'node:path';
import { fetchCall } from './raw-fetch.js';
import { rawLoop } from './raw-loop.js';
import type { Subject, SubjectOptions } from './workloads.js';

export async function open({ url, folder }: SubjectOptions): Promise<Subject> {
  const journal = await fs.promises.open(path.join(folder, 'journal.jsonl'), 'a');
  const loop = rawLoop(folder, fetchCall(url), async (step) => {
    await journal.write(`${JSON.stringify(step)}\n`);
    await journal.datasync();
  });
  return { ...loop, close: () => journal.close() };
}
