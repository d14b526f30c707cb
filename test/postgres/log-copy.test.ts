/** Commands that sum up the history of a shared store read only what was added to it. */
import assert from 'node:assert/strict';
import { place, scripted, succeeds } from '../kit/guild.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { wire } from '../kit/postgres/wire.js';
import { field } from './bench.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres, long', 3, 3);

const COMMANDS = [
  ['cost', '--json'],
  ['why', 'one'],
  ['top', '--once'],
  ['query', 'SELECT name, task FROM events WHERE task = "one"'],
];

test('cost, why, top and query do not read more beside more ended work', { skip: NO_POSTGRES }, async (t) => {
  const { server, schema, ledger, end } = await field();
  const line = await wire(server.port);
  t.after(() => line.close());
  const files = scripted('- {say: done}\n', { 'agents/ana.md': '---\ndescription: Answers\n---\nAnswer.\n' });
  files['guild.yaml'] += `store: ${server.at(line.port)}?schema=${schema}\n`;
  const here = place(t, files);
  const guild = async (...args: string[]): Promise<string> => succeeds(await here.guild(...args)).out;
  await guild('publish');
  await guild('task', 'add', 'Please do one', '--to', 'ana', '--id', 'one');
  await guild('pump', '--all');
  const history = ledger();
  t.after(() => history.close());
  let calls = 0;
  const grow = async (count: number): Promise<void> => {
    const adds = Array.from({ length: count }, () => {
      const task = `ended-${++calls}`;
      const event = { at: '2026-01-01T00:00:00.000Z', name: 'model.answered', task, agent: 'ana', model: 'm/x', ms: 1 };
      const text = JSON.stringify({ ...event, input_tokens: 1, output_tokens: 1, cached_tokens: 0, micro_usd: 1 });
      return { log: 'events', text, tag: task };
    });
    await history.commit(`grow-${calls}`, { puts: [], adds });
  };
  const bytes = async (command: string[]): Promise<number> => {
    const before = line.received();
    await guild(...command);
    return line.received() - before;
  };
  const modelCalls = async (): Promise<number> =>
    (JSON.parse(await guild('cost', '--json')) as { rows: { calls: number }[] }).rows.reduce(
      (sum, row) => sum + row.calls,
      0,
    );
  await grow(1000);
  assert.equal(await modelCalls(), 1001);
  const few = new Map<string, number>();
  for (const command of COMMANDS) few.set(command[0]!, await bytes(command));
  await grow(20_000);
  assert.equal(await modelCalls(), 21_001);
  for (const command of COMMANDS) {
    const many = await bytes(command);
    assert.ok(many < few.get(command[0]!)! + 50_000, `guild ${command[0]}: ${few.get(command[0]!)} then ${many} bytes`);
  }
  await end();
});
