/** Running turns on a socket: late readers, slow readers, dead processes, long paths, odd lines. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { followProgress, offerProgress, type Following } from '../../../src/adapters/live-progress/index.js';
import type { Offer } from '../../../src/adapters/live-progress/offer.js';
import { readLine } from '../../../src/adapters/live-progress/wire.js';
import { MAX_LIVE_WORDS } from '../../../src/domain/live-turn.js';
import type { Progress } from '../../../src/domain/progress.js';
import { until } from '../../kit/until.js';

const NOW = { task: 't1', root: 't1', agent: 'ana' };
const words = (text: string, task = 't1'): Progress => ({ ...NOW, task, kind: 'words', text });

function folder(t: TestContext): string {
  const root = tempFolder('live', t);
  fs.mkdirSync(path.join(root, '.guild'), { mode: 0o700 });
  return root;
}

function offer(t: TestContext, root: string, peer: string, env = {}): Offer {
  const one = offerProgress({ root, env, peer });
  t.after(() => one.close());
  return one;
}

function follow(t: TestContext, root: string, env = {}, own?: string): Following & { heard: string[] } {
  const heard: string[] = [];
  const one = followProgress({
    root,
    env,
    own: own === undefined ? undefined : () => own,
    onProgress: (progress) => heard.push(progress.kind),
    onTurn: ({ words: text }) => heard.push(`turn ${text}`),
    onEnd: ({ task }) => heard.push(`end ${task}`),
  });
  t.after(() => one.close());
  return { ...one, heard };
}

const sockets = (root: string): string[] => fs.readdirSync(path.join(root, '.guild/live'));

test('a reader that comes late gets the turn as it is, then what happens', async (t) => {
  const root = folder(t);
  const ana = offer(t, root, 'p1');
  ana.progress({ ...NOW, kind: 'thinking' });
  ana.progress(words('Hello '));
  const { turns, heard } = follow(t, root);
  await until(() => turns()[0]?.words === 'Hello ');
  ana.progress(words('world'));
  await until(() => turns()[0]?.words === 'Hello world');
  ana.progress({ ...NOW, kind: 'tool', tool: 'read_file', argument: 'a.md' });
  ana.progress({ ...NOW, kind: 'result', tool: 'read_file', ok: true, line: '# A' });
  const event = { at: '', name: 'model.answered' as const, task: 't1', input_tokens: 7, output_tokens: 3 };
  ana.event(event);
  await until(() => turns()[0]?.tokens === 10);
  assert.deepEqual(turns()[0]?.result, { name: 'read_file', argument: 'a.md', ok: true, line: '# A' });
  ana.event({ at: '', name: 'task.completed', task: 't1' });
  await until(() => turns().length === 0);
  assert.deepEqual(heard, ['turn Hello ', 'words', 'tool', 'result', 'turn Hello world', 'end t1']);
});

test('a process does not read its own turns, and a closed one removes its socket', async (t) => {
  const root = folder(t);
  const [ana, ben] = [offer(t, root, 'p1'), offer(t, root, 'p2')];
  ana.progress(words('mine'));
  ben.progress(words('theirs', 't2'));
  const { turns } = follow(t, root, {}, 'p1');
  await until(() => turns().some(({ words: text }) => text === 'theirs'));
  assert.deepEqual(
    turns().map(({ task }) => task),
    ['t2'],
  );
  ben.close();
  await until(() => turns().length === 0);
  assert.deepEqual(sockets(root), ['p1.sock']);
});

test('no socket exists before there is something to show', (t) => {
  const root = folder(t);
  offer(t, root, 'p1').event({ at: '', name: 'task.created', task: 't1' });
  assert.equal(fs.existsSync(path.join(root, '.guild/live')), false);
});

test('words are kept up to a limit, and a turn says that its start is missing', async (t) => {
  const root = folder(t);
  const ana = offer(t, root, 'p1');
  ana.progress(words('x'.repeat(MAX_LIVE_WORDS)));
  ana.progress(words('end'));
  const { turns } = follow(t, root);
  const turn = await until(() => turns()[0]);
  assert.equal(turn.words.length, MAX_LIVE_WORDS);
  assert.ok(turn.words.endsWith('xend') && turn.isCut);
});

test('a reader that does not read is cut off, and one that talks back too; others read on', async (t) => {
  const root = folder(t);
  const ana = offer(t, root, 'p1');
  ana.progress(words('start'));
  const { turns } = follow(t, root);
  await until(() => turns().length === 1);
  const file = path.join(root, '.guild/live/p1.sock');
  const slow = net.connect(file).pause();
  const loud = net.connect(file).on('error', () => undefined);
  const gone: string[] = [];
  slow.on('close', () => gone.push('slow')).on('error', () => undefined);
  loud.on('close', () => gone.push('loud'));
  loud.write('let me in');
  loud.resume();
  await until(() => gone.includes('loud'));
  for (let n = 0; n < 400; n++) {
    ana.progress(words('y'.repeat(20_000)));
    if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  slow.resume();
  await until(() => gone.includes('slow'));
  ana.progress({ ...NOW, kind: 'thinking' });
  ana.progress(words('still here'));
  await until(() => turns()[0]?.words === 'still here');
});

test('a path that is too long for a socket uses the runtime folder', async (t) => {
  const base = folder(t);
  const root = path.join(base, 'n'.repeat(60), 'm'.repeat(60));
  fs.mkdirSync(path.join(root, '.guild'), { recursive: true });
  const env = { XDG_RUNTIME_DIR: path.join(base, 'run') };
  fs.mkdirSync(env.XDG_RUNTIME_DIR);
  offer(t, root, 'p1', env).progress(words('far away'));
  const { turns } = follow(t, root, env);
  await until(() => turns()[0]?.words === 'far away');
  assert.equal(fs.existsSync(path.join(root, '.guild/live')), false);
});

test('lines of another form are ignored, and texts are cut', () => {
  const bad = [
    'null', '[]', '{', '{"end":7}', '{"end":""}', '{"progress":{"kind":"words","text":"x"}}',
    JSON.stringify({ progress: { ...NOW, kind: 'words', text: 7 } }),
    JSON.stringify({ progress: { ...NOW, kind: 'gossip', tool: 'x' } }),
    JSON.stringify({ progress: { ...NOW, task: 'x'.repeat(501), kind: 'thinking' } }),
    JSON.stringify({ turn: { ...NOW, words: 'x', since: 'yesterday' } }),
    JSON.stringify({ turn: { ...NOW, since: new Date().toISOString() } }),
  ]; // prettier-ignore
  for (const line of bad) assert.equal(readLine(line), undefined, line);
  const turn = {
    ...NOW,
    since: '2026-01-01',
    words: 'x',
    tokens: -1,
    microUsd: 'much',
    tool: { name: 't', argument: {} },
  };
  const read = readLine(JSON.stringify({ turn })) as { turn: { tokens: number; tool: { argument: string } } };
  assert.equal(read.turn.tokens, 0);
  assert.equal(read.turn.tool.argument, '');
  const long = readLine(JSON.stringify({ progress: { ...NOW, kind: 'tool', tool: 't', argument: 'x'.repeat(9000) } }));
  assert.equal((long as { progress: { argument: string } }).progress.argument.length, 2000);
});
