/**
 * Google ADK with in-memory sessions. It has no client for chat completions, so a model of our own
 * makes the same `fetch` as the raw loop; the measurement covers the agent loop around it.
 */
import { BaseLlm, FunctionTool, InMemoryRunner, LlmAgent } from '@google/adk';
import { z } from 'zod';
import { READER, TOOL, reader, workloads } from './workloads.mjs';

class ChatCompletions extends BaseLlm {
  constructor(url) {
    super({ model: 'bench' });
    this.url = url;
  }

  async *generateContentAsync({ contents, config }) {
    const system = config?.systemInstruction;
    const messages = [
      ...(system ? [{ role: 'system', content: textOf(system) }] : []),
      ...contents.flatMap(({ role, parts }) => parts.map((part) => messageOf(role, part))),
    ];
    const tools = (config?.tools ?? []).flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    );
    const response = await fetch(`${this.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'bench', messages, ...(tools.length > 0 ? { tools } : {}) }),
    });
    const { message } = (await response.json()).choices[0];
    const parts = message.tool_calls
      ? message.tool_calls.map(({ id, function: call }) => ({
          functionCall: { id, name: call.name, args: JSON.parse(call.arguments) },
        }))
      : [{ text: message.content }];
    yield { content: { role: 'model', parts }, turnComplete: true };
  }
}

export function open({ url, folder }) {
  const model = new ChatCompletions(url);
  const readFacts = reader(folder);
  const read = new FunctionTool({
    ...TOOL,
    parameters: z.object({ path: z.string() }),
    execute: async () => ({ result: await readFacts() }),
  });
  const runners = new Map();
  const runner = (name, instruction, tools = []) => {
    if (!runners.has(name)) {
      const agent = new LlmAgent({ name: name.replace('-', '_'), model, instruction, tools });
      runners.set(name, new InMemoryRunner({ agent, appName: 'bench' }));
    }
    return runners.get(name);
  };
  const ask = async (who, text) => {
    let answer = '';
    const newMessage = { role: 'user', parts: [{ text }] };
    for await (const event of who.runEphemeral({ userId: 'u', newMessage }))
      answer = event.content?.parts?.find((part) => part.text)?.text ?? answer;
    return answer;
  };
  const all = workloads({
    read: (request) => ask(runner('reader', READER.system, [read]), request),
    ask: (name, system, request) => ask(runner(name, system), request),
  });
  return { run: (workload) => all[workload]() };
}

function textOf(content) {
  return typeof content === 'string' ? content : (content.parts ?? []).map(({ text }) => text).join('\n');
}

function messageOf(role, part) {
  if (part.functionResponse) {
    const { id, response } = part.functionResponse;
    return { role: 'tool', tool_call_id: id, content: response.result ?? JSON.stringify(response) };
  }
  if (part.functionCall) {
    const { id, name, args } = part.functionCall;
    const call = { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
    return { role: 'assistant', content: null, tool_calls: [call] };
  }
  return { role: role === 'model' ? 'assistant' : 'user', content: part.text };
}
