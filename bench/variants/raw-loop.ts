/**
 * The same model calls without a framework. `call` makes one; `keep` gets each step before the next
 * one starts, and does nothing in the plain loop.
 */
import fs from 'node:fs';
import path from 'node:path';
import { ADVISOR, ADVISORS, BOSS, FACTS, READER, STAGE, STAGES, TALKER, type Subject } from './workloads.js';

export interface ChatMessage {
  role: string;
  content: string | null;
  tool_calls?: { id: string }[];
  tool_call_id?: string;
}

export type Call = (body: { model: string; messages: ChatMessage[]; tools?: object[] }) => Promise<ChatMessage>;
type Keep = (step: object) => Promise<void>;

const TOOL = {
  type: 'function',
  function: {
    name: 'read_file',
    description: 'Reads a file of the workspace.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
};

export function rawLoop(folder: string, call: Call, keep: Keep = async () => {}): Subject {
  const file = path.join(folder, 'facts.md');
  fs.writeFileSync(file, FACTS);
  const talk: ChatMessage[] = [{ role: 'system', content: TALKER.system }];

  async function ask(system: string, request: string): Promise<string> {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: request },
    ];
    const { content } = await call({ model: 'bench', messages });
    await keep({ request, content });
    return content!;
  }

  const workloads = {
    async w1(): Promise<void> {
      const messages: ChatMessage[] = [
        { role: 'system', content: READER.system },
        { role: 'user', content: READER.request },
      ];
      await keep({ request: READER.request });
      for (;;) {
        const message = await call({ model: 'bench', messages, tools: [TOOL] });
        await keep(message);
        if (message.tool_calls === undefined) return;
        const content = await fs.promises.readFile(file, 'utf8');
        messages.push(message, { role: 'tool', tool_call_id: message.tool_calls[0]!.id, content });
      }
    },
    async w2(): Promise<void> {
      await keep({ request: ADVISOR.request });
      const advisors = Array.from({ length: ADVISORS }, () => ask(ADVISOR.system, ADVISOR.request));
      const advice = await Promise.all(advisors);
      await ask(BOSS.system, [...advice, ADVISOR.request].join('\n\n'));
    },
    async w3(): Promise<void> {
      let answer = '';
      await keep({ request: ADVISOR.request });
      for (let stage = 0; stage < STAGES; stage++)
        answer = await ask(STAGE.system, [answer, ADVISOR.request].filter(Boolean).join('\n\n'));
    },
    async talk(): Promise<void> {
      const question = { role: 'user', content: TALKER.request };
      talk.push(question);
      const answer = await call({ model: 'bench', messages: talk });
      talk.push(answer);
      await keep({ question, answer });
    },
  };
  return { run: (workload) => workloads[workload]() };
}
