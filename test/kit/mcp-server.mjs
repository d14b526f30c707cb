/**
 * A small MCP server over stdio for tests. `--broken` says why on stderr and exits, `--silent` does
 * not answer, `--modern` speaks only the revision without a handshake.
 */
import * as fs from 'node:fs';
import * as readline from 'node:readline';

if (process.argv.includes('--broken')) {
  process.stderr.write('warming up\nLAB_KEY is missing\n');
  process.exit(1);
}
const isSilent = process.argv.includes('--silent');
const isModern = process.argv.includes('--modern');
if (process.env.STARTS) fs.appendFileSync(process.env.STARTS, 'started\n');

const tool = (name, description, inputSchema = { type: 'object', properties: {} }, more = {}) => ({
  name,
  description,
  inputSchema,
  ...more,
});
const query = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
const TOOLS = [
  tool('find', 'Finds things.', query, { annotations: { readOnlyHint: true } }),
  tool('wipe', 'Removes things.'),
  tool('count', 'Counts its calls.'),
  tool('refuse', 'Answers with an error of the protocol.'),
  tool('hang', 'Never answers.'),
  tool('slow', 'Reports progress.'),
  tool('mixed', 'Returns several kinds of content.'),
  tool('grow', 'Adds a tool.'),
  tool('release', 'Asks the person before it releases.'),
  tool('typed', 'Has every kind of parameter.', {
    $defs: { size: { enum: ['s', 'm'] } },
    type: 'object',
    properties: {
      filter: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      size: { $ref: '#/$defs/size' },
      kind: { enum: ['a', 'b'] },
      maybe: { type: ['string', 'null'] },
      scale: { type: 'string', enum: ['css', 'device'], default: 'css' },
      nested: { type: 'object', properties: { deep: { oneOf: [{ type: 'string' }, { type: 'number' }] } } },
    },
    required: ['filter', 'kind', 'scale'],
  }),
  tool('background', 'Needs the tasks extension.', undefined, { execution: { taskSupport: 'required' } }),
];

let count = 0;
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/** Requests of ours that wait for the client's answer. */
const waiting = new Map();
const ask = (method, params) => {
  const id = `ask-${waiting.size + 1}`;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
};
const FORM = {
  type: 'object',
  properties: {
    channel: { type: 'string', title: 'Channel', enum: ['beta', 'stable'] },
    copies: { type: 'integer', title: 'Copies', description: 'how many' },
    announce: { type: 'boolean', title: 'Announce it' },
  },
  required: ['channel', 'copies'],
};

const CALLS = {
  async release() {
    if (process.env.STARTS) fs.appendFileSync(process.env.STARTS, 'release\n');
    const { action, content } = await ask('elicitation/create', { message: 'Release now?', requestedSchema: FORM });
    return text(`${action} ${JSON.stringify(content ?? {})}`);
  },
  find: ({ query: words }) => text(`found ${words}; secret ${process.env.SECRET ?? 'unseen'}`),
  wipe: () => ({ ...text('no'), isError: true }),
  count: () => text(`call ${++count}`),
  refuse: () => {
    throw Object.assign(new Error('bad query'), { code: -32602 });
  },
  hang: () => new Promise(() => {}),
  async slow(_, meta) {
    for (const progress of [1, 2]) {
      const params = { progressToken: meta.progressToken, progress, total: 2, message: 'copying' };
      send({ method: 'notifications/progress', params });
      // The client drops progress that it reads together with the result.
      await ask('ping', {});
    }
    return text('copied');
  },
  mixed: () => ({
    content: [
      { type: 'resource', resource: { uri: 'repo://a.txt', mimeType: 'text/plain', text: 'the file' } },
      { type: 'resource_link', uri: 'repo://b.txt', name: 'b' },
      { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
    ],
  }),
  grow() {
    TOOLS.push(tool('grown', 'Is new.'));
    send({ method: 'notifications/tools/list_changed' });
    return text('grown');
  },
};

const CAPABILITIES = { tools: { listChanged: true }, resources: {} };
const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const NAMED = { name: 'test', version: '1' };
const HANDSHAKE = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: CAPABILITIES, serverInfo: NAMED }),
};
const WITHOUT_HANDSHAKE = {
  initialize: ({ protocolVersion: requested }) => {
    throw Object.assign(new Error(`Unsupported protocol version: ${requested}`), { code: -32022 });
  },
  'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: CAPABILITIES }),
};

const ANSWERS = {
  ...(isModern ? WITHOUT_HANDSHAKE : HANDSHAKE),
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call': ({ name, arguments: args, _meta }) =>
    (CALLS[name] ?? ((given) => text(JSON.stringify(given))))(args, _meta),
  'resources/list': () => ({ resources: [{ uri: 'repo://a.txt', name: 'a', mimeType: 'text/plain' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/plain', text: `content of ${uri}` }] }),
};

readline.createInterface({ input: process.stdin }).on('line', (line) => void answer(line));

async function answer(line) {
  const { id, method, params, result } = JSON.parse(line);
  if (id === undefined || isSilent) return undefined;
  if (method === undefined) return waiting.get(id)?.(result ?? {});
  try {
    if (ANSWERS[method] === undefined) throw Object.assign(new Error(`no ${method}`), { code: -32601 });
    const replied = await ANSWERS[method](params ?? {});
    return send({ id, result: isModern ? { ...COMPLETE, ...replied } : replied });
  } catch ({ code = -32603, message }) {
    return send({ id, error: { code, message } });
  }
}
