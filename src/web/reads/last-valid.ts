/** The last valid version of an agent whose file is broken: the one that it worked with last. */
import { checkAgentText } from '../../app/editing/write-agent.js';
import { writtenLines } from '../../app/editing/written-lines.js';
import { openReader } from '../../app/readers/open-reader.js';
import type { AgentFile } from '../base/contract.js';
import type { Feed } from '../base/feed.js';
import { sessionList } from '../base/sessions.js';

/** Conversations that are looked at, newest first. */
const LOOKED_AT = 5;

export async function lastValid(
  feed: Feed,
  { name, file, text }: Pick<AgentFile, 'name' | 'file' | 'text'>,
): Promise<AgentFile['lastValid']> {
  if (checkAgentText(file, text).problems.length === 0) return undefined;
  const store = openReader(feed.root);
  try {
    const rows = (await sessionList(feed)).filter(({ agent }) => agent === name).slice(0, LOOKED_AT);
    for (const { id, created: at } of rows) {
      const opened = await store.sessions.open(id);
      if (opened.kind !== 'open') continue;
      const { header, messages } = opened.session;
      const pin = messages.findLast(({ definition }) => definition !== undefined)?.definition ?? header.definition;
      const bytes = pin === undefined ? undefined : await store.blobs.get(pin);
      const source = bytes?.toString('utf8');
      if (source === undefined || checkAgentText(file, source).problems.length > 0) continue;
      return { text: source, at, changes: writtenLines(source, text) };
    }
    return undefined;
  } finally {
    await store.close();
  }
}
