/**
 * A chat-completions server in a process of its own that answers at once: a call of `read_file` while nothing was read and a tool
 * is offered, else a sentence; who is told to answer slowly takes its time. It serves our provider (a stream) and the raw loop (one JSON document) alike. Prints its port; `GET /count`
 * tells how many completions it has served.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

interface Question {
  messages: { role: string }[];
  stream?: boolean;
  tools?: unknown[];
}

const CALL = {
  index: 0,
  id: 'c1',
  type: 'function',
  function: { name: 'read_file', arguments: '{"path":"memory/facts.md"}' },
};
const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const ASK = { role: 'assistant', content: null, tool_calls: [CALL] };
const SAY = { role: 'assistant', content: 'The runtime is podman, as the file says.' };

const bodies = {
  ask: { whole: whole(ASK, 'tool_calls'), stream: stream(ASK, 'tool_calls') },
  say: { whole: whole(SAY, 'stop'), stream: stream(SAY, 'stop') },
};
let served = 0;
/** Who is asked in this way takes its time. */
const SLOWLY = 'You answer slowly.';
const SLOW_MS = 60;

const server = http.createServer((request, response) => {
  if (request.url === '/count') return void response.end(String(served));
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    served++;
    const { messages, stream, tools } = JSON.parse(body) as Question;
    const { [stream ? 'stream' : 'whole']: reply } =
      bodies[messages.at(-1)?.role === 'tool' || !tools?.length ? 'say' : 'ask'];
    response.writeHead(200, {
      'content-type': stream ? 'text/event-stream' : 'application/json',
      'content-length': Buffer.byteLength(reply),
    });
    if (body.includes(SLOWLY)) setTimeout(() => response.end(reply), SLOW_MS);
    else response.end(reply);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096, () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on('disconnect', () => process.exit());

function whole(message: object, finish: string): string {
  return JSON.stringify({
    ...frame('chat.completion'),
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: USAGE,
  });
}

function stream(delta: object, finish: string): string {
  const chunk = frame('chat.completion.chunk');
  const parts = [
    { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { ...chunk, choices: [], usage: USAGE },
  ];
  return `${parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join('')}data: [DONE]\n\n`;
}

function frame(object: string): object {
  return { id: 'x', object, created: 0, model: 'bench' };
}
