/**
 * A chat-completions server in its own process. It answers immediately: first a `read_file` call if
 * tools are offered, then a sentence. It serves clients that want a stream and clients that want
 * one JSON document. It prints its port; `GET /served` returns the number of completions served and
 * the bytes of their requests. After `GET /hold/1000` it answers nothing until 1,000 requests have
 * arrived; `GET /held` answers when they have arrived, and `GET /release` answers all of them.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

interface Question {
  messages: { role: string }[];
  stream?: boolean;
  tools?: unknown[];
}

const TOOL_CALL = {
  index: 0,
  id: 'c1',
  type: 'function',
  function: { name: 'read_file', arguments: '{"path":"memory/facts.md"}' },
};
const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const CALL_MESSAGE = { role: 'assistant', content: null, tool_calls: [TOOL_CALL] };
const TEXT_MESSAGE = { role: 'assistant', content: 'The runtime is podman, as the file says.' };

const bodies = {
  call: { document: document(CALL_MESSAGE, 'tool_calls'), stream: stream(CALL_MESSAGE, 'tool_calls') },
  text: { document: document(TEXT_MESSAGE, 'stop'), stream: stream(TEXT_MESSAGE, 'stop') },
};
const served = { calls: 0, bytes: 0 };
/** Answers that are held back, how many there will be, and the callback for the last of them. */
const held = { wanted: 0, answers: [] as (() => void)[], waiting: undefined as (() => void) | undefined };

const server = http.createServer((request, response) => {
  const [, verb, count] = request.url!.split('/');
  if (verb === 'served') return void response.end(JSON.stringify(served));
  if (verb === 'hold' || verb === 'held' || verb === 'release') return control(verb, Number(count), response);
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    served.calls++;
    served.bytes += Buffer.byteLength(body);
    const { messages, stream, tools } = JSON.parse(body) as Question;
    const { [stream ? 'stream' : 'document']: reply } =
      bodies[messages.at(-1)?.role === 'tool' || !tools?.length ? 'text' : 'call'];
    const answer = (): void => {
      response.writeHead(200, {
        'content-type': stream ? 'text/event-stream' : 'application/json',
        'content-length': Buffer.byteLength(reply),
      });
      response.end(reply);
    };
    if (held.wanted === 0) return answer();
    held.answers.push(answer);
    if (held.answers.length === held.wanted) held.waiting?.();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096, () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on('disconnect', () => process.exit());

function control(verb: 'hold' | 'held' | 'release', count: number, response: http.ServerResponse): void {
  if (verb === 'hold') held.wanted = count;
  if (verb === 'release') {
    held.wanted = 0;
    for (const answer of held.answers.splice(0)) answer();
  }
  if (verb === 'held' && held.answers.length < held.wanted) held.waiting = () => response.end();
  else response.end();
}

function document(message: object, finish: string): string {
  return JSON.stringify({
    ...frame('chat.completion'),
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: USAGE,
  });
}

function stream(delta: object, finish: string): string {
  const chunk = frame('chat.completion.chunk');
  const chunks = [
    { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { ...chunk, choices: [], usage: USAGE },
  ];
  return `${chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`).join('')}data: [DONE]\n\n`;
}

function frame(object: string): object {
  return { id: 'x', object, created: 0, model: 'bench' };
}
