/** Starts the benchmarks' model server, and the raw loop that the engine is compared with. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ModelServer {
  url: string;
  count(): Promise<number>;
  close(): void;
}

export async function startModelServer(): Promise<ModelServer> {
  const child = fork(fileURLToPath(new URL('model-server-child.js', import.meta.url)), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.stdout!.once('data', (data) => resolve(String(data).trim()));
  });
  const base = `http://127.0.0.1:${port}`;
  return {
    url: `${base}/v1`,
    count: async () => Number(await (await fetch(`${base}/count`)).text()),
    close: () => void child.kill(),
  };
}

const TOOL = {
  type: 'function',
  function: {
    name: 'read_file',
    description: 'Reads a file of the workspace.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
};

interface Reply {
  choices: { message: { role: string; content: string | null; tool_calls?: { id: string }[] } }[];
}

/** Two model calls and one tool call without a framework: nothing is stored, nothing is checked. */
export async function rawRun(url: string, tool: () => string): Promise<string> {
  const messages: object[] = [
    { role: 'system', content: 'You answer from files.' },
    { role: 'user', content: 'Which runtime do we use?' },
  ];
  for (;;) {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'bench', messages, tools: [TOOL] }),
    });
    const { message } = ((await response.json()) as Reply).choices[0]!;
    if (message.tool_calls === undefined) return message.content!;
    messages.push(message, { role: 'tool', tool_call_id: message.tool_calls[0]!.id, content: tool() });
  }
}
