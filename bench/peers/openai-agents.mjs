/** OpenAI Agents SDK: in memory, over chat completions. Our code passes answers between stages. */
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
import { READER, TOOL, reader, workloads } from './workloads.mjs';

export function open({ url, folder }) {
  setTracingDisabled(true);
  const client = new OpenAI({ baseURL: url, apiKey: 'none' });
  const model = new OpenAIChatCompletionsModel(client, 'bench');
  const read = tool({ ...TOOL, parameters: z.object({ path: z.string() }), execute: reader(folder) });
  const agents = new Map();
  const agent = (name, instructions, tools = []) => {
    if (!agents.has(name)) agents.set(name, new Agent({ name, instructions, model, tools }));
    return agents.get(name);
  };
  const ask = async (who, request) => String((await run(who, request)).finalOutput);
  const all = workloads({
    read: (request) => ask(agent('reader', READER.system, [read]), request),
    ask: (name, system, request) => ask(agent(name, system), request),
  });
  return { run: (workload) => all[workload]() };
}
