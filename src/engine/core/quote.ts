/** Shortens long texts: the whole text becomes a blob, the reader gets its head and tail. */
import type { EngineContext } from './context.js';

/** Returns the text unchanged if it has at most `limit` bytes. */
export async function quoted(
  context: EngineContext,
  text: string,
  limit = context.config.limits.maxResultBytes,
): Promise<string> {
  if (text.length <= limit && Buffer.byteLength(text) <= limit) return text;
  const hash = await context.blobs.put(text);
  const edge = Math.floor(limit / 4);
  const lines = text.split('\n').length;
  const note = `[… cut: ${text.length} characters, ${lines} lines in all; the whole text is storage/blobs/${hash} …]`;
  return `${text.slice(0, edge)}\n${note}\n${text.slice(-edge)}`;
}
