/** The output of `guild why`, as lines. */
import type { Call } from '../../args/command.js';
import { redirected } from '../../render/redirected.js';

export async function whyLines(call: Call, id: string): Promise<string[]> {
  const lines: string[] = [];
  const keep = (text: string): void => void lines.push(...text.split('\n'));
  const terminal = redirected(call.terminal, { out: keep, say: keep, dock() {} });
  await (await import('../why/index.js')).command.run({ ...call, terminal, words: [id], values: {} });
  return lines;
}
