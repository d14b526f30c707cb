/** The conversation of a task. */
import { openReader } from '../../../app/readers/open-reader.js';

export async function taskSession(root: string, id: string): Promise<string | undefined> {
  const store = openReader(root);
  try {
    const placed = await store.tasks.read(id);
    return placed?.task.session ?? (await store.tasks.read(`${id}.work`))?.task.session;
  } finally {
    await store.close();
  }
}
