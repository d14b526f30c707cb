/** A process that believes it is on a terminal of a given size. */
import type { Given } from './guild.js';

export function onTerminal(columns: number, { rows = 20, ...more }: Given & { rows?: number } = {}): Given {
  const code = `for (const s of [process.stdout, process.stderr]) Object.assign(s, { isTTY: true, columns: ${columns}, rows: ${rows} })`;
  return { ...more, node: ['--import', `data:text/javascript,${encodeURIComponent(code)}`] };
}
