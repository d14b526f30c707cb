/** Long texts: kept whole under their hash, and quoted head and tail where somebody reads on. */
import type { EngineContext } from './context.js';

/** The text itself, if it is no longer than `limit` bytes. */
export async function quoted(
  context: EngineContext,
  text: string,
  limit = context.config.limits.maxResultBytes,
): Promise<string> {
  if (text.length <= limit && Buffer.byteLength(text) <= limit) return text;
  const hash = await context.blobs.put(text);
  const part = Math.floor(limit / 4);
  const lines = text.split('\n').length;
  const note = `[… cut: ${text.length} characters, ${lines} lines in all; the whole text is storage/blobs/${hash} …]`;
  return `${text.slice(0, part)}\n${note}\n${text.slice(-part)}`;
}
