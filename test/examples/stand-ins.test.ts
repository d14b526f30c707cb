/**
 * The demo and the swarm example on the strict stand-ins: their scripts are played over HTTP in
 * each provider's format, and no request is refused. `npm test` plays each on one of them.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { QUESTION } from '../../src/cli/commands/demo/steps.js';
import { STAND_IN_NAMES, type StandInName } from '../../src/adapters/models/stand-ins/index.js';
import { place, ROOT, succeeds, type Place } from '../kit/guild.js';
import { sampleOf, sampleTests } from '../kit/sample.js';

const test = sampleTests('examples/stand-ins', 2);

/** How `guild.yaml` reaches each stand-in, and a current model. */
const REACHED: Record<StandInName, { kind: string; model: string }> = {
  'openai-responses': { kind: 'openai, api: responses', model: 'gpt-6.1-sol' },
  'openai-chat': { kind: 'openai', model: 'gpt-5' },
  anthropic: { kind: 'anthropic', model: 'claude-opus-5-5' },
  google: { kind: 'google', model: 'gemini-4-argon' },
  mistral: { kind: 'mistral', model: 'mistral-small-2603' },
  deepseek: { kind: 'deepseek', model: 'deepseek-flash' },
};
const WITH_KEY = { env: { KEY: 'any' } };

/** A copy of an example whose model is its own script, played by a stand-in. */
async function onStandIn(t: TestContext, as: StandInName, example: string): Promise<Place> {
  const workspace = place(t);
  fs.cpSync(path.join(ROOT, 'examples', example), workspace.root, { recursive: true });
  const server = workspace.start('model-server', '--as', as, '--script', 'script.yaml', '--port', '0');
  const url = await server.says(/http:\/\/[\w.:/]+/);
  const { kind, model } = REACHED[as];
  const settings = workspace
    .read('guild.yaml')
    .replace(
      /demo: \{ kind: scripted, script: script\.yaml \}/,
      `demo: { kind: ${kind}, base_url: ${url}, key_env: KEY }`,
    )
    .replaceAll(/demo\/(story|judge)(?=\n|:)/g, `demo/${model}`)
    .replace(/^( {2}demo\/.*\n) {2}demo\/.*\n/m, '$1');
  workspace.put('guild.yaml', settings);
  return workspace;
}

function refusals(workspace: Place): string[] {
  return workspace
    .list('events')
    .flatMap((file) => workspace.read(`events/${file}`).split('\n'))
    .filter((line) => line.includes('"model.failed"'));
}

for (const as of sampleOf('the demo on a stand-in', STAND_IN_NAMES, STAND_IN_NAMES.length)) {
  test(`${as}: the office answers Sarah`, async (t) => {
    const workspace = await onStandIn(t, as, 'office');
    const line = {
      id: 'slack-1001',
      channel: 'slack',
      from: 'sarah',
      text: QUESTION,
      timestamp: new Date().toISOString(),
    };
    workspace.put('inbox/slack-messages.jsonl', `${JSON.stringify(line)}\n`);
    for (let asked = 0; asked < 4; asked++) {
      await workspace.guildWith(WITH_KEY, 'pump', '--all', '-q');
      const ballot = workspace.read('tasks/approvals.task.md');
      if (!ballot.includes('- [_]')) break;
      workspace.put('tasks/approvals.task.md', ballot.replaceAll('- [_]', '- [x]'));
    }
    assert.deepEqual(refusals(workspace), []);
    assert.match(workspace.read('inbox/slack-outbox.jsonl'), /redis/i);
    for (const state of ['pending', 'active', 'waiting', 'failed'])
      assert.deepEqual(workspace.list(`tasks/${state}`), []);
  });
}

for (const as of sampleOf('the swarm on a stand-in', STAND_IN_NAMES, STAND_IN_NAMES.length)) {
  test(`${as}: the swarm writes the API`, async (t) => {
    const workspace = await onStandIn(t, as, 'swarm');
    succeeds(await workspace.guildWith(WITH_KEY, 'pump', '--all', '-q'));
    assert.deepEqual(refusals(workspace), []);
    assert.match(workspace.read('results/build_user_api.md'), /The API for user management is written/);
    assert.deepEqual(workspace.list('tasks/failed'), []);
  });
}
