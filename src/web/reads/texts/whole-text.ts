/**
 * The whole of a text that was too long for its message or its record. A text is returned only if
 * the conversation or the task itself names it: knowing its hash is not enough.
 */
import { openReader } from '../../../app/readers/open-reader.js';
import { problem, ProblemError } from '../../../domain/problem.js';
import { isSafeId } from '../../../domain/task/id.js';

type Store = ReturnType<typeof openReader>;

export async function wholeText(root: string, of: string, id: string, hash: string): Promise<Buffer> {
  const store = openReader(root);
  try {
    const isNamed = isSafeId(id) && /^[0-9a-f]{64}$/.test(hash) && (await textsOf(store, of, id)).some(names(hash));
    const bytes = isNamed ? await store.blobs.get(hash) : undefined;
    if (bytes === undefined) throw new ProblemError(problem('not_found', 'there is no such text here'));
    return bytes;
  } finally {
    await store.close();
  }
}

/** Texts that may name a blob. The agent's own texts do not count: it could write any hash. */
async function textsOf({ sessions, tasks }: Store, of: string, id: string): Promise<(string | undefined)[]> {
  if (of === 'sessions') {
    const opened = await sessions.open(id);
    const messages = opened.kind === 'open' ? opened.session.messages : [];
    return messages.filter(({ role }) => role !== 'assistant').map(({ content }) => content);
  }
  await tasks.scan(true);
  const placed = await tasks.read(id);
  return [placed?.task.result];
}

function names(hash: string): (text: string | undefined) => boolean {
  return (text) => text?.includes(`storage/blobs/${hash}`) === true;
}
