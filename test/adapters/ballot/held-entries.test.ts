/** A contradictory, damaged or doubled entry is held: it neither runs nor withdraws anything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approval, desk, tick } from './desk.js';

const [a, b] = [approval('a'), approval('b')];

for (const [line, column] of [
  ['status: rejected', 3],
  ['rejected_by: sarah', 3],
  ['reason: no, do not run this', 3],
  ['rejection_reason: too risky', 3],
] as const) {
  test(`R9: [x] with ${line} is held, with line and caret`, async () => {
    const { text, save, settle } = await desk(a, b);
    const ticked = tick(text(), 'a');
    const saved = line.startsWith('status')
      ? ticked.replace('  status: pending', `  ${line}`)
      : ticked.replace('  id: a\n', `  id: a\n  ${line}\n`);
    save(saved);
    const { answers, withdrawn, problems } = await settle([a, b]);
    assert.deepEqual([answers, withdrawn], [[], []]);
    assert.equal(problems.length, 1);
    const { where, message } = problems[0]!;
    assert.match(message, /the answer to a does not count: \[x\] approves it, but \w+: refuses it/);
    assert.equal(saved.split('\n')[where!.line! - 1], `  ${line}`);
    assert.deepEqual([where!.column, where!.source], [column, `  ${line}`]);
  });
}

test('fields that agree with the box do not hold it', async () => {
  const { text, save, settle } = await desk(a, b);
  save(
    tick(tick(text(), 'a'), 'b', '[-]')
      .replace('  id: a\n', '  id: a\n  approved_by: sarah\n')
      .replace('  id: b\n', '  id: b\n  rejected_by: sarah\n  reason: no\n'),
  );
  assert.deepEqual((await settle([a, b])).answers, [
    { id: 'a', answer: { approved: true, by: 'sarah' } },
    { id: 'b', answer: { approved: false, by: 'sarah', reason: 'no' } },
  ]);
});

const damage: [string, (text: string) => string][] = [
  ['two id lines', (text) => text.replace('  id: a\n', '  id: a\n  id: zzz\n')],
  ['a second id line with the id of another entry', (text) => text.replace('  id: a\n', '  id: a\n  id: b\n')],
  ['a typo in its id', (text) => text.replace('  id: a\n', '  id: ax\n')],
  ['no id', (text) => text.replace('  id: a\n', '')],
  ['no first line', (text) => text.replace(/- \[.\].*\n {2}id: a\n/, '  id: a\n')],
  ['a comment around it', (text) => text.replace(/(- \[.\].*\n {2}id: a\n(?: {2}.*\n)*)/, '<!--\n$1-->\n')],
];
for (const [what, change] of damage) {
  test(`R13: an entry with ${what} is held and reported, not withdrawn`, async () => {
    const { text, save, settle, form } = await desk(a, b);
    const saved = change(tick(text(), 'a'));
    assert.notEqual(saved, text());
    save(saved);
    const { answers, withdrawn, problems } = await settle([a, b]);
    assert.deepEqual([answers, withdrawn], [[], []]);
    assert.ok(problems.length > 0);
    for (const { where } of problems) assert.ok(where!.line! > 0);
    assert.deepEqual(form.read([a, b]), { answers: [], withdrawn: [], problems: [] });
  });
}

test('the same damage to an entry of an earlier build withdraws nothing', async () => {
  const { text, save, settle } = await desk(a, b);
  save(
    tick(text(), 'a')
      .replace('  id: a\n', '  id: ax\n')
      .replaceAll(/ {2}digest: .*\n/g, ''),
  );
  const { answers, withdrawn } = await settle([a, b]);
  assert.deepEqual([answers, withdrawn], [[], []]);
});

test('two answers for one id count as no answer, in any sections', async () => {
  const { text, save, settle } = await desk(a);
  const entry = /- \[_\][^]*?\n(?=\n<!-- end)/.exec(text())![0];
  save(tick(text(), 'a').replace('\n<!-- end', `\n## Done\n\n${entry.replace('[_]', '[-]')}\n<!-- end`));
  const { answers, withdrawn, problems } = await settle([a]);
  assert.deepEqual([answers, withdrawn], [[], []]);
  assert.match(problems[0]!.message, /^a has more than one entry, so none of them counts/);
});

test('an error in one entry does not hold its neighbours', async () => {
  const { text, save, settle } = await desk(a, b);
  save(tick(text(), 'b').replace('  id: a\n', '   id: a\n'));
  assert.deepEqual(
    (await settle([a, b])).answers.map(({ id }) => id),
    ['b'],
  );
});

test('20,000 foreign entries are a few messages and a few looks at the disk', async () => {
  const { text, save, settle, disk, form } = await desk(a, b);
  const foreign = Array.from(
    { length: 20_000 },
    (_, n) => `- [x] A @human #approval \`Approve command: touch ${n}\`\n  id: x.call-${n}\n  command: touch ${n}\n`,
  ).join('');
  save(tick(text(), 'b').replace('\n<!-- end', `${foreign}\n<!-- end`));
  let looks = 0;
  const stamp = disk.stamp.bind(disk);
  disk.stamp = (file) => {
    if (file.includes('/x.call-')) looks++;
    return stamp(file);
  };
  const { answers, problems } = await settle([a, b]);
  assert.deepEqual(
    answers.map(({ id }) => id),
    ['b'],
  );
  assert.deepEqual(form.unsettled(), ['a', 'b'], 'the engine asks for the fate of no other');
  assert.ok(problems.length <= 12, `${problems.length} problems`);
  assert.match(problems.at(-1)!.message, /^19990 more entries like these do not count/);
  save(`${text()}\n`);
  await settle([a]);
  assert.ok(looks <= 1000, `${looks} looks`);
});
