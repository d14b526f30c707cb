/**
 * A chat on a real terminal: `guild chat` or a raw client, and the provider that answers both. The
 * raw client keeps the conversation and sends all of it, as `guild chat` does.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { threadsCpuMs } from './usage.js';

const LIMIT_MS = 30_000;

export interface Provider {
  url: string;
  /** The last word that the provider sent alone at the start of an answer, and when. */
  last: { word: string; at: number };
  close(): void;
}

/** Answers with a new word each time, which is sent alone before the rest. */
export async function wordServer(pauseMs: number): Promise<Provider> {
  const words: Provider = { url: '', last: { word: '', at: 0 }, close: () => void server.close() };
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
      }, pauseMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  words.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return words;
}

export interface Turn {
  /** From the first word at the provider to the same word on the terminal. */
  firstWordMs: number;
  /** From Enter to the next prompt. */
  ms: number;
  /** Of the program and the processes that it started. */
  cpuMs: number;
}

export function chatTerminal(cwd: string, args: string[]) {
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
  const cpuMs = (): number => below(child.pid!).reduce((sum, pid) => sum + threadsCpuMs(pid), 0);
  return {
    shows: (what: string) => until(() => text.includes(what)),
    /** Types a line that no provider answers, and waits for this text. */
    async type(line: string, reply: string): Promise<void> {
      text = '';
      child.stdin.write(`${line}\r`);
      await until(() => text.includes(reply) && text.includes('> ', text.lastIndexOf(reply)));
    },
    async ask(provider: Provider, question: string): Promise<Turn> {
      const { word: before } = provider.last;
      const cpuBefore = cpuMs();
      const from = performance.now();
      text = '';
      child.stdin.write(`${question}\r`);
      await until(() => provider.last.word !== before && text.includes(provider.last.word));
      const firstWordMs = performance.now() - provider.last.at;
      await until(() => text.includes('and more.') && text.includes('> ', text.lastIndexOf('and more.')));
      return { firstWordMs, ms: performance.now() - from, cpuMs: cpuMs() - cpuBefore };
    },
    close: () => void child.kill('SIGKILL'),
  };
}

function below(pid: number): number[] {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').flatMap((each) => [Number(each), ...below(Number(each))]);
}

/** A raw client that continues the conversation in a JSON file: `raw-follow-up.mjs FILE TEXT`. */
export function rawFollowUp(url: string): string {
  return `import fs from 'node:fs';
const [file, text] = process.argv.slice(2);
const messages = [...JSON.parse(fs.readFileSync(file, 'utf8')), { role: 'user', content: text }];
const body = JSON.stringify({ model: 'm', stream: true, messages });
const headers = { 'content-type': 'application/json' };
const response = await fetch('${url}/chat/completions', { method: 'POST', headers, body });
const parts = (await response.text()).matchAll(/"content":"([^"]*)"/g);
const content = [...parts].map(([, words]) => words).join('');
fs.writeFileSync(file, JSON.stringify([...messages, { role: 'assistant', content }]));
process.stdout.write(content);
`;
}

/** The source of the raw client. `/new` starts a new conversation. */
export function rawClient(url: string): string {
  return `import readline from 'node:readline';
const lines = readline.createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
let messages = [];
lines.prompt();
for await (const line of lines) {
  if (line === '/new') {
    messages = [];
    process.stdout.write('a new conversation\\n');
    lines.prompt();
    continue;
  }
  messages.push({ role: 'user', content: line });
  const body = JSON.stringify({ model: 'm', stream: true, messages });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('${url}/chat/completions', { method: 'POST', headers, body });
  let answer = '';
  for await (const chunk of response.body) {
    for (const part of Buffer.from(chunk).toString().split('\\n\\n')) {
      const text = /"content":"([^"]*)"/.exec(part)?.[1];
      if (text) process.stdout.write(text);
      answer += text ?? '';
    }
  }
  messages.push({ role: 'assistant', content: answer });
  process.stdout.write('\\n');
  lines.prompt();
}
`;
}
