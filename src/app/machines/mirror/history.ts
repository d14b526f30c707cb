/** The event log of the store as the files of a mirrored folder. Nothing is read back from them. */
import { eventDay, eventOf, EVENTS } from './rendered.js';
import fs from 'node:fs';
import path from 'node:path';
import type { MirrorContext } from './tasks.js';

const MARK = 'events';

export async function showEvents({ folder, ledger, refuse, happened }: MirrorContext): Promise<number> {
  const mark = folder.mark(MARK);
  const { texts, end } = await ledger.lines(EVENTS, { after: Number(mark ?? 0) });
  const days = new Map<string, string>();
  for (const text of texts) {
    const day = eventDay(text);
    if (day !== undefined) days.set(day, `${days.get(day) ?? ''}${text}\n`);
  }
  for (const [day, lines] of days) {
    const file = `events/${day}.jsonl`;
    if (!folder.canHold(file)) {
      refuse(file);
      continue;
    }
    folder.makeFolderOf(file);
    fs.appendFileSync(path.join(folder.root, file), lines);
  }
  // A new folder shows the whole past at once.
  for (const text of mark === undefined ? [] : texts) {
    const event = eventOf(text);
    if (event !== undefined) happened(event);
  }
  folder.setMark(MARK, String(end));
  return texts.length;
}
