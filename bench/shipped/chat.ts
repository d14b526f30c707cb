/**
 * How soon `guild chat` shows the first word after the provider has sent it, on a real terminal,
 * next to a raw client on one. Both are asked in turns, and the same server answers both.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { atMostOver, median, type Bench } from '../harness/rows.js';
import { shippedWorkspace } from '../harness/shipped-workspace.js';

const MAX_OVER_MS = 15;
const WARM_UPS = 3;
const LIMIT_MS = 30_000;

export const chat: Bench = {
  name: 'chat',
  async run(testbed) {
    const provider = await wordServer();
    const folder = testbed.folder('chat');
    const root = shippedWorkspace(testbed.build, folder, { url: provider.url });
    const raw = path.join(folder, 'raw.mjs');
    fs.writeFileSync(raw, rawClient(provider.url));
    const guild = terminal(root, [testbed.build.guild, 'chat', 'reader', '-w', root]);
    const client = terminal(folder, [raw]);
    try {
      await guild.shows('reader> ');
      await client.shows('> ');
      const times = { guild: [] as number[], raw: [] as number[] };
      for (let round = 0; round < WARM_UPS + testbed.scale(30, 4); round++)
        for (const [name, who] of [
          ['guild', guild],
          ['raw', client],
        ] as const) {
          const ms = await who.ask(provider, `round ${round}`);
          if (round >= WARM_UPS) times[name].push(ms);
        }
      return [
        atMostOver('guild chat: first word on the terminal', median(times.guild), median(times.raw), 'ms', MAX_OVER_MS),
      ];
    } finally {
      guild.close();
      client.close();
      provider.close();
    }
  },
};

interface Words {
  url: string;
  /** The last word that was sent first in an answer, and when. */
  last: { word: string; at: number };
  close(): void;
}

/** Answers with a new word each time, sent alone before the rest. */
async function wordServer(): Promise<Words> {
  const words: Words = { url: '', last: { word: '', at: 0 }, close: () => void server.close() };
  let count = 0;
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      const word = `word${++count}x`;
      const part = (delta: object, reason: string | null): string =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(part({ role: 'assistant', content: `${word} ` }, null));
      words.last = { word, at: performance.now() };
      setTimeout(() => {
        response.end(`${part({ content: 'and more.' }, null)}${part({}, 'stop')}data: [DONE]\n\n`);
      }, 150);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  words.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return words;
}

function terminal(cwd: string, args: string[]) {
  const command = `stty cols 100 rows 40; exec ${[process.execPath, ...args].map((word) => `'${word}'`).join(' ')}`;
  const env = { ...process.env, TERM: 'xterm-256color' };
  const child = spawn('script', ['-qefc', command, '/dev/null'], { cwd, env, stdio: 'pipe' });
  let text = '';
  let heard = (): void => undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
    heard();
  });
  const until = (isThere: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`the terminal shows ${text.slice(-500)}`)), LIMIT_MS);
      heard = () => {
        if (!isThere()) return;
        clearTimeout(limit);
        resolve();
      };
      heard();
    });
  return {
    shows: (what: string) => until(() => text.includes(what)),
    /** The time from the first word at the provider to the same word on the terminal. */
    async ask(provider: Words, question: string): Promise<number> {
      const { word: before } = provider.last;
      text = '';
      child.stdin.write(`${question}\r`);
      await until(() => provider.last.word !== before && text.includes(provider.last.word));
      const ms = performance.now() - provider.last.at;
      await until(() => text.includes('and more.') && text.includes('> ', text.lastIndexOf('and more.')));
      return ms;
    },
    close: () => void child.kill('SIGKILL'),
  };
}

function rawClient(url: string): string {
  return `import readline from 'node:readline';
const lines = readline.createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
lines.prompt();
for await (const line of lines) {
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: line }] });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('${url}/chat/completions', { method: 'POST', headers, body });
  for await (const chunk of response.body) {
    for (const part of Buffer.from(chunk).toString().split('\\n\\n')) {
      const text = /"content":"([^"]*)"/.exec(part)?.[1];
      if (text) process.stdout.write(text);
    }
  }
  process.stdout.write('\\n');
  lines.prompt();
}
`;
}
