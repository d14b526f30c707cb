/**
 * A small MCP server over stdio for tests: one tool reads, one changes something. `--broken` exits.
 */
import * as readline from 'node:readline';

const TOOLS = [
  {
    name: 'find',
    description: 'Finds things.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    annotations: { readOnlyHint: true },
  },
  { name: 'wipe', description: 'Removes things.', inputSchema: { type: 'object', properties: {} } },
];

if (process.argv.includes('--broken')) process.exit(1);

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'test', version: '1' },
  }),
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call': ({ name, arguments: args }) =>
    name === 'find'
      ? { content: [{ type: 'text', text: `found ${args.query}; secret ${process.env.SECRET ?? 'unseen'}` }] }
      : { content: [{ type: 'text', text: 'no' }], isError: true },
};

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const reply = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: `no ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
});
