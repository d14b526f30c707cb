/** Vercel AI SDK: its agent loop, in memory. Advisors and stages are agents of their own. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ToolLoopAgent, tool } from 'ai';
import { z } from 'zod';
import { READER, TOOL, reader, workloads } from './workloads.mjs';

export function open({ url, folder }) {
  const model = createOpenAICompatible({ name: 'bench', baseURL: url })('bench');
  const read = tool({
    description: TOOL.description,
    inputSchema: z.object({ path: z.string() }),
    execute: reader(folder),
  });
  const agents = new Map();
  const agent = (name, instructions, tools) => {
    if (!agents.has(name)) agents.set(name, new ToolLoopAgent({ model, instructions, ...(tools ? { tools } : {}) }));
    return agents.get(name);
  };
  const run = async (who, prompt) => (await who.generate({ prompt })).text;
  const all = workloads({
    read: (request) => run(agent('reader', READER.system, { read_file: read }), request),
    ask: (name, system, request) => run(agent(name, system), request),
  });
  return { run: (workload) => all[workload]() };
}
