/**
 * The ballot knows its version: an entry that is missing from a half-saved or outdated file does
 * not count as refused, and a file that a person is saving is never replaced.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ballot } from '../../../src/adapters/ballot/index.js';
import type { Ballot } from '../../../src/ports/ballot.js';
import { approval, consentOn, desk, FILE, tick, without } from './desk.js';

const [a, b, c] = [approval('a'), approval('b'), approval('c')];
const ids = (answers: readonly { id: string }[]): string[] => answers.map(({ id }) => id);
const upTo = (text: string, mark: string): string => text.slice(0, text.indexOf(mark));

test('the ballot ends with its version, and each entry shows the start of its digest', async () => {
  const { text, form } = await desk(a);
  assert.match(text(), /\n\n<!-- end of approvals, version 1; keep this line last -->\n$/);
  assert.match(text(), /\n {2}digest: a-0123456789\n/);
  await form.show([a, b], [], new Map());
  assert.match(text(), /\n<!-- end of approvals, version 2; keep this line last -->\n$/);
  assert.equal(text().split('<!-- end of').length, 2);
});

test('where records are in a database, a new process knows the entries that were shown here, and no others', async () => {
  const { disk, clock, form, text } = await desk(a, b);
  const answer = { approved: true, by: 'human', at: '2026-01-01T00:00:01.000Z', desk: 'ana@laptop' };
  await form.show([], [{ ...a, answer }], new Map([['a', 'done']]));
  assert.match(text(), /\n {2}answered_by: ana@laptop\n/);
  const open = (): Ballot =>
    ballot({ root: '/w', disk, clock, peer: 'peer02', consent: consentOn(disk), hasRecords: false });
  const next = open();
  assert.deepEqual(next.read([]).problems, []);
  assert.deepEqual(next.unsettled(), ['b'], 'its fate is still to be shown');
  disk.save(FILE, text().replace('id: b', 'id: made-up'));
  await clock.advance(5000);
  const last = open();
  last.read([]);
  await clock.advance(5000);
  assert.match(last.read([]).problems[0]!.message, /no approval made-up was ever asked for/);
});

test('a file without its end line is held for 2 s; then its complete marks count and nothing is withdrawn', async () => {
  const { form, text, save, clock } = await desk(a, b, c);
  const half = upTo(tick(tick(text(), 'a'), 'b', '[-]'), '- [_]');
  assert.ok(!half.includes('id: c'));
  save(half);
  const open = [a, b, c];
  assert.deepEqual(form.read(open), { answers: [], withdrawn: [], problems: [] });
  await form.show(open, [], new Map());
  assert.equal(text(), half, 'it is not replaced');
  await clock.advance(1999);
  assert.deepEqual(form.read(open).answers, []);
  await clock.advance(1);
  const { answers, withdrawn, problems } = form.read(open);
  assert.deepEqual([ids(answers), withdrawn], [['a', 'b'], []]);
  assert.match(problems[0]!.message, /lacks its last line/);
  assert.ok(problems[0]!.where!.line! > 1);
  await form.show(open, [], new Map());
  assert.match(text(), /id: c\n[^]*\n<!-- end of approvals, version 2; .*-->\n$/);
});

test('a file that grows is held until it stops growing', async () => {
  const { form, text, save, clock } = await desk(a, b);
  const whole = tick(text(), 'a');
  for (let at = 700; at < whole.length; at += 200) {
    save(whole.slice(0, at));
    assert.deepEqual(form.read([a, b]), { answers: [], withdrawn: [], problems: [] });
    await form.show([a, b, c], [], new Map());
    assert.equal(text(), whole.slice(0, at));
    await clock.advance(1500);
  }
  save(whole);
  assert.deepEqual(ids(form.read([a, b, c]).answers), ['a']);
});

test('an entry that is cut off never runs, and is asked again when the file is written', async () => {
  const { text, save, settle, form } = await desk(approval('a', 'rm -r build/old'));
  const open = [approval('a', 'rm -r build/old')];
  save(upTo(tick(text(), 'a'), '/old\n  description'));
  const { answers, withdrawn } = await settle(open);
  assert.deepEqual([answers, withdrawn], [[], []]);
  assert.match(
    text(),
    /- \[_\] A @human[^]*command: rm -r build\/old\n[^]*note: asked again, because the file was cut off/,
  );
  assert.deepEqual(form.read(open).answers, []);
  save(tick(text(), 'a'));
  assert.deepEqual((await settle(open)).answers, [{ id: 'a', answer: { approved: true, by: 'human' } }]);
});

test('text below the end line is kept, and the end line moves below it', async () => {
  const { text, save, settle } = await desk(a);
  save(`${tick(text(), 'a')}\nA note of mine.\n`);
  const { answers, problems } = await settle([a, b]);
  assert.deepEqual([ids(answers), problems], [['a'], []]);
  assert.match(text(), /\nA note of mine\.\n[^]*<!-- end of approvals, version 2; .*-->\n$/);
  assert.equal(text().split('<!-- end of').length, 2);
});

test('a mark on an entry with another digest is asked again with the action as it is now', async () => {
  const before = approval('a', 'make all', 'aaaaaaaaaaaaaaaa');
  const now = approval('a', 'make clean', 'bbbbbbbbbbbbbbbb');
  const { text, save, settle, form } = await desk(before);
  save(tick(text(), 'a').replace('\n## TODO', '\nMine.\n\n## TODO'));
  assert.deepEqual((await settle([now])).answers, []);
  assert.match(text(), /Mine\.[^]*- \[_\] A @human #approval [`"]Approve command: make clean[`"]/);
  assert.match(
    text(),
    /command: make clean\n[^]*digest: bbbbbbbbbbbb\n {2}note: asked again, because the action has changed/,
  );
  assert.doesNotMatch(text(), /make all|aaaa/);
  assert.deepEqual(form.read([now]).answers, []);
  save(tick(text(), 'a'));
  assert.deepEqual((await settle([now])).answers, [{ id: 'a', answer: { approved: true, by: 'human' } }]);
});

test('a ballot of an older version does not withdraw what came later; it is shown again', async () => {
  const { form, text, save, settle } = await desk(a);
  const old = text();
  await form.show([a, b], [], new Map());
  await form.show([a, b, c], [], new Map());
  save(tick(old, 'a').replace('\n## TODO', '\nMy note.\n\n## TODO'));
  const { answers, withdrawn } = await settle([a, b, c]);
  assert.deepEqual([ids(answers), withdrawn], [['a'], []]);
  assert.match(text(), /My note\.[^]*id: b\n[^]*id: c\n[^]*version 4/);
});

test('an old version withdraws what it showed', async () => {
  const { form, text, save, settle } = await desk(a, b);
  const old = text();
  await form.show([a, b, c], [], new Map());
  save(without(old, 'b'));
  assert.deepEqual((await settle([a, b, c])).withdrawn, ['b']);
  assert.match(text(), /id: a\n[^]*id: c\n/);
});

test('a missing entry is withdrawn only after two looks at a file that was quiet for 1 s', async () => {
  const { form, text, save, clock } = await desk(a, b);
  save(without(text(), 'b'));
  assert.deepEqual(form.read([a, b]).withdrawn, []);
  await clock.advance(999);
  assert.deepEqual(form.read([a, b]).withdrawn, []);
  save(`${text()}\n`);
  assert.deepEqual(form.read([a, b]).withdrawn, [], 'it changed again');
  await clock.advance(1000);
  assert.deepEqual(form.read([a, b]).withdrawn, ['b']);
});

test('an entry that comes back before the second look is not withdrawn', async () => {
  const { form, text, save, settle } = await desk(a, b);
  const whole = text();
  save(without(whole, 'b'));
  form.read([a, b]);
  save(whole);
  assert.deepEqual((await settle([a, b])).withdrawn, []);
});

test('a file that changed in the last second is not replaced', async () => {
  const { form, text, save, clock } = await desk(a);
  const saved = text().replace('\n## TODO', '\nMy note.\n\n## TODO');
  save(saved);
  form.read([a, b]);
  await form.show([a, b], [], new Map());
  assert.equal(text(), saved);
  await clock.advance(form.dueMs('write')!);
  await form.show([a, b], [], new Map());
  assert.match(text(), /My note\.[^]*id: b\n/);
  await form.show([a, b, c], [], new Map());
  assert.match(text(), /id: c\n/, 'a file that the program wrote is replaced at once');
});

test('an in-place save is read only when it has been quiet for a moment', async () => {
  const { form, text, disk, clock } = await desk(a, b);
  const whole = tick(text(), 'a');
  disk.patch(FILE, 0, whole);
  assert.deepEqual(form.read([a, b]).answers, []);
  await clock.advance(form.dueMs('read')!);
  assert.deepEqual(ids(form.read([a, b]).answers), ['a']);
});

test('a ballot of an earlier build, without end line and digests, keeps its marks and is upgraded', async () => {
  const { text, save, settle, disk } = await desk(a, b, c);
  for (const name of disk.list('/w/.guild/ballot-versions')) disk.remove(`/w/.guild/ballot-versions/${name}`);
  const old = tick(tick(text(), 'a'), 'c', '[-]')
    .replaceAll(/ {2}digest: .*\n/g, '')
    .replace(/\n<!-- end.*\n/, '');
  save(old);
  const { answers, withdrawn, problems } = await settle([a, b, c]);
  assert.deepEqual([ids(answers), withdrawn, problems], [['a', 'c'], [], []]);
  assert.ok(text().startsWith(old.trimEnd()));
  assert.match(text(), /\n<!-- end of approvals, version 1; .*-->\n$/);
});

test('bytes that are not UTF-8 hold the file with its line, and stay', async () => {
  const { form, text, settle, disk } = await desk(a);
  const before = Buffer.from(tick(text(), 'a').replace('\n## TODO', '\nCaf? au lait\n\n## TODO'));
  before[before.indexOf('?')] = 0xe9;
  disk.remove(FILE);
  disk.create(FILE, before);
  const { answers, withdrawn, problems } = await settle([a, b]);
  assert.deepEqual([answers, withdrawn], [[], []]);
  assert.equal(problems.length, 1);
  const line =
    text()
      .split('\n')
      .findIndex((one) => one.startsWith('Caf')) + 1;
  assert.deepEqual(problems[0]!.where, { file: 'tasks/approvals.task.md', line });
  assert.match(problems[0]!.message, /is not UTF-8 text: its marks do not count and it is not updated/);
  const read = disk.read(FILE);
  assert.ok(read.kind === 'file' && read.bytes.equals(before));
  assert.deepEqual(form.read([a, b]).problems, []);
});
