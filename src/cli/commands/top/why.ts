/** The output of `guild why`, as lines. */
import type { Call } from '../../args/command.js';
import type { Terminal } from '../../render/terminal.js';

export async function whyLines(call: Call, id: string): Promise<string[]> {
  const lines: string[] = [];
  const keep = (text: string): void => void lines.push(...text.split('\n'));
  const terminal = Object.assign(Object.create(call.terminal) as Terminal, { out: keep, say: keep, dock() {} });
  await (await import('../why/index.js')).command.run({ ...call, terminal, words: [id], values: {} });
  return lines;
}
