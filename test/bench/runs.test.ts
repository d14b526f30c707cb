/** How a benchmark names a framework that cannot be measured. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonIn } from '../../bench/shipped/runs.js';

test('a framework that fails is named with the sentence of its error and no folder of this machine', () => {
  const printed = `Command failed: node child.js {}
node:internal/modules/cjs/loader:1943
Error: The module '/root/.cache/peers-1/node_modules/sql/build/sql.node'
was compiled against a different Node.js version using
NODE_MODULE_VERSION 115. This version of Node.js requires NODE_MODULE_VERSION 137.
    at Module._extensions..node (node:internal/modules/cjs/loader:1943:18)
`;
  assert.equal(
    reasonIn(printed),
    "The module 'sql.node' was compiled against a different Node.js version using NODE_MODULE_VERSION 115",
  );
  const typed = 'TypeError [ERR_X]: no such method\n    at open (/home/ada/peers/mastra.mjs:3:1)\n';
  assert.equal(reasonIn(typed), 'no such method');
  assert.equal(reasonIn('Command failed: it was killed'), 'it failed');
});
