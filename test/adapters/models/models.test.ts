/** Routing of model calls to scripted and real providers. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { standIns } from '../../../src/adapters/models/stand-ins/index.js';
import { scripted } from '../../../src/adapters/models/scripted/index.js';
import { models } from '../../../src/adapters/models/index.js';
import type { Provider } from '../../../src/domain/config/config.js';
import type { ModelRequest } from '../../../src/ports/model.js';
import { simClock } from '../../kit/sim-clock.js';

const files: Record<string, string> = {};
function workspace(providers: Record<string, Provider> = {}) {
  return models({
    config: { providers, prices: {}, timeouts: { callMs: 120_000, stallMs: 120_000, tries: 1 } },
    env: {},
    clock: simClock({ auto: true }),
    readFile: (path) => files[path],
  });
}

function ask(model: string): ModelRequest {
  return {
    model,
    system: '',
    messages: [{ role: 'user', content: 'hi' }],
    tools: [],
    settings: {},
    agent: 'a',
    task: 't',
    turn: 1,
  };
}

async function says(model: ReturnType<typeof workspace>, name: string): Promise<string> {
  const reply = await model.call(ask(name));
  return reply.ok ? reply.answer.text : `${reply.failure.class}: ${reply.failure.message}`;
}

test('a scripted provider plays its own script, and edits count immediately', async () => {
  files['a.yaml'] = '- say: from a';
  files['script.yaml'] = '- say: the default one';
  const model = workspace({ demo: { kind: 'scripted', script: 'a.yaml' } });
  assert.equal(await says(model, 'demo/x'), 'from a');
  assert.equal(await says(model, 'scripted/x'), 'the default one');
  files['a.yaml'] = '- say: edited';
  assert.equal(await says(model, 'demo/x'), 'edited');
});

test('a script counts `times` across calls until it is edited', async () => {
  files['n.yaml'] = '- {say: once, times: 1}\n- say: later';
  const model = workspace({ demo: { kind: 'scripted', script: 'n.yaml' } });
  assert.deepEqual([await says(model, 'demo/x'), await says(model, 'demo/x')], ['once', 'later']);
});

test('other providers are called over HTTP', async () => {
  const server = await standIns({ model: scripted('- say: over HTTP') });
  after(() => server.close());
  const model = workspace({ local: { kind: 'openai-compatible', baseUrl: server.url } });
  assert.equal(await says(model, 'local/x'), 'over HTTP');
});

test('an unknown provider or missing script is reported with a next step', async () => {
  assert.equal(await says(workspace(), 'opnai/gpt-5'), 'unknown_model: unknown provider opnai; did you mean "openai"?');
  assert.equal(
    await says(workspace({ demo: { kind: 'scripted', script: 'gone.yaml' } }), 'demo/x'),
    'unknown_model: the script gone.yaml of provider demo is missing, or agents may not read it; create it, or set providers.demo.script in guild.yaml',
  );
});
