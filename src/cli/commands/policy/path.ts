/** `guild policy path`: for each path, the verdict that a file tool of an agent would get. */
import { createInterface } from 'node:readline';
import { pathGate } from '../../../app/readers/gates.js';
import { EXIT, text, type Call } from '../../args/command.js';

export async function policyPath(call: Call): Promise<number> {
  const gate = pathGate(call.root);
  const agent = text(call.values, 'agent') ?? 'agent';
  const tool = text(call.values, 'tool') ?? 'read_file';
  const show = (query: { id?: unknown; agent: string; tool: string; path: string }): void => {
    const from = performance.now();
    const { verdict, reason } = gate(query.agent, query.tool, query.path);
    if (call.json)
      call.terminal.json({ id: query.id, verdict, reason, ms: Number((performance.now() - from).toFixed(3)) });
    else call.terminal.out(`${verdict}\t${reason}`);
  };
  for (const path of call.words) show({ agent, tool, path });
  if (call.words.length > 0) return EXIT.done;
  for await (const line of createInterface({ input: call.io.stdin })) {
    if (!call.json) show({ agent, tool, path: line });
    else if (line.trim() !== '') showJson(line);
  }
  return EXIT.done;

  function showJson(line: string): void {
    try {
      const query = JSON.parse(line) as { id?: unknown; agent?: string; tool?: string; path?: string };
      if (typeof query.path !== 'string') throw new TypeError('"path" is missing');
      show({ id: query.id, agent: query.agent ?? agent, tool: query.tool ?? tool, path: query.path });
    } catch (error) {
      call.terminal.json({ verdict: 'refuse', reason: `not a question: ${(error as Error).message}` });
    }
  }
}
