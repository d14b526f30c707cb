/**
 * Three agents in three processes ask each other in a cycle. After asking, each blocks in a tool
 * until a file exists, so that all three have asked before any of them counts as waiting. One
 * request is cancelled, whichever process detects the cycle.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { place, type Place } from '../../kit/guild.js';
import { sampleOf } from '../../kit/sample.js';
import { until } from '../../kit/until.js';

const HOLD = `
import fs from 'node:fs';
import path from 'node:path';
export default ({ workspace: root }) => ({ tools: [{
  definition: { name: 'hold', description: 'Holds on', parameters: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] } },
  metadata: { requiresHumanApproval: false },
  execute: async ({ who }) => {
    fs.writeFileSync(path.join(root, 'held-' + who), '');
    while (!fs.existsSync(path.join(root, 'go'))) await new Promise((next) => setTimeout(next, 10));
    return { success: true, content: 'held' };
  },
}] });
`;
const RING = { ann: 'ben', ben: 'cyd', cyd: 'ann' };
const NAMES = Object.keys(RING) as (keyof typeof RING)[];
const PRIORITY = { ann: 'A', ben: 'D', cyd: 'B' };

const files = (mode: string): Record<string, string> => ({
  'guild.yaml': `model: pretend/x\nproviders:\n  pretend: { kind: scripted, script: script.yaml }\nwatch: { rescan: 1s }\ngit: false\nplugins: [hold]\ncoordination: { mode: ${mode} }\n`,
  'plugins/hold/index.mjs': HOLD,
  'script.yaml': `
${NAMES.map((name) => `- {task: ${name}, turn: 1, call: [{delegate_to_agent: {agent: ${RING[name]}, task: help me}}, {hold: {who: ${name}}}]}`).join('\n')}
- {task: [ann, ben, cyd], when: {any: each waited for the next}, say: Done alone.}
- {task: [ann, ben, cyd], say: Done together.}
- {task: '*.call-*', say: Here you are.}
`,
  ...Object.fromEntries(
    NAMES.flatMap((name) => [
      [
        `agents/${name}.md`,
        `---\ndescription: Does its part\nsession: shared\ntools: [delegate_to_agent, hold]\nagents: [${RING[name]}]\n---\nDo it.\n`,
      ],
      [
        `tasks/pending/${name}.json`,
        JSON.stringify({ description: `Go on, ${name}`, to: name, priority: PRIORITY[name] }),
      ],
    ]),
  ),
});

interface Line {
  name: string;
  task?: string;
  victim?: string;
  cancelled?: string;
}

async function closeTheRing(t: TestContext, mode: string): Promise<{ workspace: Place; events: Line[] }> {
  const workspace = place(t, files(mode));
  const all = NAMES.map((name) => workspace.spawn('agent', 'start', name));
  await until(() => NAMES.every((name) => workspace.list('.').includes(`held-${name}`)));
  workspace.put('go', '');
  await until(() => NAMES.every((name) => workspace.list('tasks/completed').includes(`${name}.json`)));
  for (const { child } of all) child.kill('SIGTERM');
  await Promise.all(all.map(({ ended }) => ended));
  const lines = workspace.list('events').flatMap((day) => workspace.read(`events/${day}`).trim().split('\n'));
  return { workspace, events: lines.map((line) => JSON.parse(line) as Line) };
}

const record = (workspace: Place, id: string): { result: string; created_at: string } =>
  JSON.parse(
    workspace.read(
      `tasks/${workspace.list('tasks/completed').includes(`${id}.json`) ? 'completed' : 'failed'}/${id}.json`,
    ),
  ) as never;

for (const mode of sampleOf('cycle', ['mesh', 'hierarchical'], 2))
  test(`${mode}: three processes close a cycle, and all agree on the one request that is cancelled`, async (t) => {
    const { workspace, events } = await closeTheRing(t, mode);
    const asks = workspace.list('tasks/failed').concat(workspace.list('tasks/completed'));
    const ofName = (name: string): string => asks.find((file) => file.startsWith(`${name}.call-`))!.slice(0, -5);
    const first = NAMES.toSorted((a, b) => {
      const [at, bt] = [record(workspace, ofName(a)).created_at, record(workspace, ofName(b)).created_at];
      return at < bt ? -1 : at > bt ? 1 : a < b ? -1 : 1;
    })[0]!;
    const victim = mode === 'mesh' ? first : 'ben';
    const broken = events.filter(({ name }) => name === 'deadlock.broken');
    assert.deepEqual(
      broken.map((event) => [event.victim, event.cancelled]),
      [[victim, ofName(victim)]],
    );
    assert.deepEqual(
      events.flatMap(({ name, task }) => (name === 'task.failed' ? [task] : [])),
      [ofName(victim)],
      'cancelled once, and nothing beside',
    );
    for (const name of NAMES)
      assert.equal(record(workspace, name).result, name === victim ? 'Done alone.' : 'Done together.');
    assert.deepEqual(workspace.list('.guild/intents'), []);
  });
