/** Mastra with memory in LibSQL: every run is a thread whose messages are kept. */
import * as path from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { z } from 'zod';
import { ADVISOR, ADVISORS, BOSS, READER, STAGE, STAGES, TOOL, reader, workloads } from './workloads.mjs';

export async function open({ url, folder }) {
  const model = createOpenAICompatible({ name: 'bench', baseURL: url })('bench');
  const storage = new LibSQLStore({ id: 'bench', url: `file:${path.join(folder, 'mastra.db')}` });
  const memory = new Memory({ storage, options: { lastMessages: 10, semanticRecall: false } });
  const read = createTool({
    id: TOOL.name,
    description: TOOL.description,
    inputSchema: z.object({ path: z.string() }),
    execute: reader(folder),
  });
  const agent = (name, instructions, tools = {}) => new Agent({ id: name, name, instructions, model, memory, tools });
  const agents = {
    reader: agent('reader', READER.system, { read_file: read }),
    boss: agent('boss', BOSS.system),
  };
  for (let n = 0; n < ADVISORS; n++) agents[`advisor-${n}`] = agent(`advisor-${n}`, ADVISOR.system);
  for (let n = 1; n <= STAGES; n++) agents[`stage-${n}`] = agent(`stage-${n}`, STAGE.system);
  const mastra = new Mastra({ agents, storage, logger: false });
  let thread = 0;
  const ask = async (name, request) => {
    const options = { memory: { thread: `t-${++thread}`, resource: 'bench' } };
    return (await mastra.getAgent(name).generate(request, options)).text;
  };
  const all = workloads({
    read: (request) => ask('reader', request),
    ask: (name, _system, request) => ask(name, request),
  });
  return { run: (workload) => all[workload]() };
}
