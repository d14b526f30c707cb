/** A person who allows a request has seen all of it, and nothing else happens. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { visible } from '../../src/domain/consent/visible.js';
import { place, scripted, succeeds, type Place } from '../kit/guild.js';

const BALLOT = 'tasks/approvals.task.md';
const agent = (tools: string): string => `---\ndescription: Does things\ntools: [${tools}]\n---\nDo it.\n`;
const TASK = { 'tasks/pending/t1.json': '{"description": "do it", "to": "ana"}' };

function asking(call: object, more: Record<string, string> = {}): Record<string, string> {
  const script = JSON.stringify([
    { agent: 'ana', turn: 1, call: [call] },
    { agent: 'ana', turn: 2, say: 'It ended: {{last}}' },
  ]);
  return { ...scripted(script, TASK), 'agents/ana.md': agent(Object.keys(call).join()), ...more };
}

const BANK = {
  'guild.yaml':
    'model: pretend/x\nproviders:\n  pretend: { kind: scripted, script: script.yaml }\ndefault_agent: ana\nplugins: [bank]\n',
  'plugins/bank/index.mjs': `import fs from 'node:fs';
export default { tools: [{
  definition: { name: 'bank_pay', description: 'Pays', parameters: { type: 'object', properties: {
    name: { type: 'string' }, iban: { type: 'string' }, amount: { type: 'number' }, note: { type: 'string' } } } },
  execute(args, { workspace }) { fs.writeFileSync(workspace + '/paid.json', JSON.stringify(args)); return 'paid'; },
}] };
`,
};
const PAY = {
  bank_pay: { name: "Alice's Bakery, 4.50 for the bread rolls", iban: 'XX00 ATTACKER', amount: 99999, note: '' },
};

async function asked(workspace: Place): Promise<{ id: string; title: string; seen: string; shown: object }> {
  succeeds(await workspace.guild('pump'));
  const { out } = await workspace.guild('approve', '--json');
  return (JSON.parse(out) as [{ id: string; title: string; seen: string; shown: object }])[0];
}

test("the terminal shows every argument of a plugin's tool, and its title holds none of them", async (t) => {
  const workspace = place(t, asking(PAY, BANK));
  const { id, title, shown } = await asked(workspace);
  assert.equal(title, 'Approve bank_pay of the plugin bank');
  const listed = (await workspace.guild('approve')).out;
  for (const all of [listed, workspace.read(BALLOT), JSON.stringify(shown)])
    for (const value of ['XX00 ATTACKER', '99999', 'bread rolls']) assert.ok(all.includes(value), value);
  const drawn = await workspace.guildWith({ types: 'n\n' }, 'approve', id);
  assert.equal(drawn.code, 4);
  assert.match(drawn.out, /XX00 ATTACKER/);
  assert.ok(!fs.existsSync(path.join(workspace.root, 'paid.json')));
});

test('approving by id without a terminal needs the digest of what was seen', async (t) => {
  const workspace = place(t, asking(PAY, BANK));
  const { id, seen } = await asked(workspace);
  const blind = await workspace.guild('approve', id);
  assert.equal(blind.code, 4);
  assert.match(blind.err, new RegExp(`--seen ${seen}`));
  const other = await workspace.guild('approve', id, '--seen', 'f'.repeat(64));
  assert.equal(other.code, 3);
  succeeds(await workspace.guild('pump', '--all').then((ran) => ({ ...ran, code: ran.code === 4 ? 0 : ran.code })));
  assert.ok(!fs.existsSync(path.join(workspace.root, 'paid.json')));
  succeeds(await workspace.guild('approve', id, '--seen', seen));
  succeeds(await workspace.guild('pump', '--all'));
  assert.ok(fs.existsSync(path.join(workspace.root, 'paid.json')));
});

test('on a terminal a yes to the drawn request allows it', async (t) => {
  const workspace = place(t, asking(PAY, BANK));
  const { id } = await asked(workspace);
  succeeds(await workspace.guildWith({ types: 'y\n' }, 'approve', id));
  succeeds(await workspace.guild('pump', '--all'));
  assert.ok(fs.existsSync(path.join(workspace.root, 'paid.json')));
});

test('a record whose digest does not match its content is asked again, not shown', async (t) => {
  const workspace = place(t, asking({ write_file: { path: 'a.txt', content: 'evil' } }));
  const { id } = await asked(workspace);
  const folder = ['pending', 'waiting'].find((state) => workspace.list(`tasks/${state}`).includes(`${id}.json`))!;
  const record = JSON.parse(workspace.read(`tasks/${folder}/${id}.json`)) as {
    context: { request: { arguments: { content: string } } };
  };
  record.context.request.arguments.content = 'harmless';
  workspace.put(`tasks/${folder}/${id}.json`, JSON.stringify(record));
  const again = await asked(workspace);
  assert.equal(again.id, `${id}-again-2`);
  assert.match(JSON.stringify(again.shown), /evil/);
});

test('one turn cannot flood the ballot, and the ballot is never larger than is read', async (t) => {
  const calls = Array.from({ length: 400 }, (_, n) => ({
    write_file: { path: `f${n}.txt`, content: `${n} `.repeat(7500) },
  }));
  const script = JSON.stringify([
    { agent: 'ana', turn: 1, call: calls },
    { agent: 'ana', turn: 2, say: 'done' },
  ]);
  const workspace = place(t, { ...scripted(script, TASK), 'agents/ana.md': agent('write_file') });
  succeeds(await workspace.guild('pump'));
  const open = JSON.parse((await workspace.guild('approve', '--json')).out) as unknown[];
  assert.equal(open.length, 30);
  assert.ok(Buffer.byteLength(workspace.read(BALLOT)) < 8 * 1024 * 1024);
  const session = workspace
    .list('sessions')
    .map((file) => workspace.read(`sessions/${file}`))
    .join('');
  assert.match(session, /requests of ana already wait for the human/);
  assert.match(session, /a turn may make 128 calls/);
});

test('a call with very large arguments is refused to the model', async (t) => {
  const workspace = place(t, asking({ write_file: { path: 'big.txt', content: 'x'.repeat(300_000) } }));
  succeeds(await workspace.guild('pump', '--all'));
  assert.match(workspace.read('tasks/completed/t1.json'), /over_limit: the arguments of this call have/);
});

test('risk words are right: a command that interprets, deletes or installs is not LOW', async (t) => {
  for (const [command, risk] of [
    ['bash build.sh', 'HIGH'],
    ['npx x', 'HIGH'],
    ['find . -delete', 'HIGH'],
    ['node -e "fetch(1)"', 'HIGH'],
    ['./run', 'HIGH'],
    ['git push origin main', 'HIGH'],
    ['for f in a b; do rm $f; done', 'HIGH'],
    ['frobnicate now', 'MEDIUM'],
    ['touch x', 'MEDIUM'],
  ] as const) {
    const workspace = place(t, asking({ execute_command: { command } }));
    succeeds(await workspace.guild('pump'));
    assert.equal(/^ *risk: (\w+)$/m.exec(workspace.read('tasks/approvals.task.md'))?.[1], risk, command);
  }
});

test('a character that a reader cannot see or could mistake is shown as the same escape everywhere', async (t) => {
  for (const [text, expected] of [
    [`touch a${' '.repeat(300)}; touch hidden`, 'touch a\\u{20}×300; touch hidden'],
    ['a\u2800b', 'a\\u{2800}b'],
    ['a\u3164b\u00adc', 'a\\u{3164}b\\u{ad}c'],
    ['literal \\u{1b}', 'literal \\u{5c}u{1b}'],
    ['ls\r\nrm', 'ls\\u{d}\nrm'],
    ['\u202eevil', '\\u{202e}evil'],
    ['p\u0430ypal.com', 'p\\u{430}ypal.com'],
    ['\uff52\uff4d x', '\\u{ff52}\\u{ff4d} x'],
    ['Привет, мир', 'Привет, мир'],
    ['naïve café 東京', 'naïve café 東京'],
    [`a${'\n'.repeat(50)}b`, 'a\n\\u{a}×50\nb'],
    ['    if (x) {\n\t\treturn;', '    if (x) {\n\t\treturn;'],
  ] as const)
    assert.equal(visible(text), expected);
  const workspace = place(t, asking({ execute_command: { command: `touch a${' '.repeat(300)}; touch hidden\r` } }));
  await asked(workspace);
  const line = 'touch a\\u{20}×300; touch hidden\\u{d}';
  assert.ok(workspace.read(BALLOT).includes(line));
  assert.ok((await workspace.guild('approve')).out.includes(line));
});
