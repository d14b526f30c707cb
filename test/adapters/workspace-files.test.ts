/** File tools stay inside the workspace, whatever links and races an agent sets up. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { tempFolder } from '../kit/temp/folder.js';
import { fc } from '../kit/properties.js';
import { disk } from '../../src/adapters/disk/index.js';
import { workspaceFiles } from '../../src/adapters/workspace-files/index.js';
import type { Disk } from '../../src/ports/disk.js';
import type { WorkspaceFiles } from '../../src/ports/workspace-files.js';
import { judgePath, judgeSpelling } from '../../src/rules/policy/paths.js';
import { until } from '../kit/until.js';

interface TestWorkspace {
  root: string;
  outside: string;
  folder: WorkspaceFiles;
  put(name: string, text?: string): string;
}

function workspace(t: TestContext, onDisk: Disk = disk(), walk: 'descriptor' | 'path' = 'descriptor'): TestWorkspace {
  const top = tempFolder('folder', t);
  const root = path.join(top, 'ws');
  const outside = path.join(top, 'outside');
  fs.mkdirSync(root);
  fs.mkdirSync(outside);
  fs.writeFileSync(path.join(outside, 'treasure'), 'TREASURE');
  const put = (name: string, text = 'text\n'): string => {
    const file = path.join(root, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
    return file;
  };
  const files = workspaceFiles({
    root,
    disk: onDisk,
    judge: { spelling: judgeSpelling, path: judgePath },
    search: () => Promise.resolve({ found: [] }),
    walk,
  });
  return { root, outside, folder: files, put };
}

test('a file inside is read by any spelling of its path', (t) => {
  const { folder: f, put, root } = workspace(t);
  put('docs/a.md', 'grüße\n');
  for (const spelling of ['docs/a.md', './docs//a.md', 'docs/../docs/a.md', `${root}/docs/a.md`, '../ws/docs/a.md']) {
    assert.deepEqual(
      f.read('ana', spelling, 1000),
      { ok: true, value: { text: 'grüße\n', bytes: 8, cut: false } },
      spelling,
    );
    assert.equal(f.judge('ana', 'read', spelling).path, 'docs/a.md');
  }
});

test('a long read is cut between characters', (t) => {
  const { folder: f, put } = workspace(t);
  put('a.md', 'aü');
  assert.deepEqual(f.read('ana', 'a.md', 2), { ok: true, value: { text: 'a', bytes: 3, cut: true } });
});

test('a link inside the workspace is followed, a link out of it is not', (t) => {
  const { folder: f, put, root, outside } = workspace(t);
  put('docs/a.md', 'inside');
  fs.symlinkSync('docs', path.join(root, 'in'));
  fs.symlinkSync(outside, path.join(root, 'out'));
  fs.symlinkSync('../outside/treasure', path.join(root, 'treasure'));
  fs.symlinkSync('/proc/self/root/etc', path.join(root, 'etc'));
  assert.equal(f.judge('ana', 'read', 'in/a.md').path, 'docs/a.md');
  assert.equal(f.read('ana', 'in/a.md', 100).ok, true);
  for (const out of [
    'out/treasure',
    'treasure',
    'out',
    'in/../../outside/treasure',
    'etc/passwd',
    '/etc/passwd',
    '../outside/treasure',
    `${root}-evil`,
    `${outside}/treasure`,
    '/proc/self/cwd/package.json',
  ]) {
    for (const use of ['read', 'write', 'list', 'make_folder'] as const) {
      assert.equal(f.judge('ana', use, out).verdict, 'refuse', `${use} ${out}`);
    }
    assert.equal(f.read('ana', out, 100).ok, false);
  }
});

test('a link is judged by its target and by its own name', async (t) => {
  const { folder: f, put, root } = workspace(t);
  put('.env', 'KEY=1');
  put('tasks/pending/x.json');
  put('workspaces/ana/mine.md', 'mine');
  fs.mkdirSync(path.join(root, '.git'));
  fs.symlinkSync('../../.env', path.join(root, 'workspaces/ana/harmless.md'));
  fs.symlinkSync('../../tasks', path.join(root, 'workspaces/ana/t'));
  fs.symlinkSync('../../.git', path.join(root, 'workspaces/ana/g'));
  fs.symlinkSync('../workspaces/ana/mine.md', path.join(root, 'tasks/approvals.task.md'));
  assert.equal(f.judge('ana', 'read', 'workspaces/ana/harmless.md').verdict, 'ask');
  assert.equal(f.read('ana', 'workspaces/ana/harmless.md', 100).ok, false);
  assert.equal(f.read('ana', 'workspaces/ana/harmless.md', 100, true).ok, true);
  for (const name of ['workspaces/ana/t/approvals.task.md', 'workspaces/ana/g/config', 'tasks/approvals.task.md']) {
    assert.equal(f.judge('ana', 'write', name).verdict, 'refuse', name);
    assert.equal((await f.write('ana', name, 'x', true)).ok, false);
  }
  assert.equal(fs.readFileSync(path.join(root, 'workspaces/ana/mine.md'), 'utf8'), 'mine');
});

test('link loops are refused, and dangling links are judged by their target', async (t) => {
  const { folder: f, root, put } = workspace(t);
  put('workspaces/ana/x');
  fs.symlinkSync('b', path.join(root, 'a'));
  fs.symlinkSync('a', path.join(root, 'b'));
  fs.symlinkSync('../../agents/new.md', path.join(root, 'workspaces/ana/new'));
  fs.symlinkSync('../../../outside/new', path.join(root, 'workspaces/ana/far'));
  assert.equal(f.judge('ana', 'read', 'a').verdict, 'refuse');
  assert.equal(f.judge('ana', 'write', 'workspaces/ana/new').verdict, 'refuse');
  assert.equal(f.judge('ana', 'write', 'workspaces/ana/far').verdict, 'refuse');
  assert.equal((await f.write('ana', 'workspaces/ana/far', 'x', true)).ok, false);
  assert.equal(fs.existsSync(path.join(root, '../outside/new')), false);
});

test('reading a hard link needs approval, and writing it is refused', async (t) => {
  const { folder: f, root, outside, put } = workspace(t);
  put('workspaces/ana/x');
  fs.linkSync(path.join(outside, 'treasure'), path.join(root, 'workspaces/ana/twin'));
  assert.equal(f.judge('ana', 'read', 'workspaces/ana/twin').verdict, 'ask');
  assert.equal(f.read('ana', 'workspaces/ana/twin', 100).ok, false);
  assert.equal((await f.write('ana', 'workspaces/ana/twin', 'x', true)).ok, false);
  assert.equal(fs.readFileSync(path.join(outside, 'treasure'), 'utf8'), 'TREASURE');
});

test('a FIFO, socket, device or folder is refused without blocking', async (t) => {
  const { folder: f, root, put } = workspace(t);
  put('workspaces/ana/x');
  execFileSync('mkfifo', [path.join(root, 'workspaces/ana/pipe')]);
  const server = net.createServer().listen(path.join(root, 'workspaces/ana/sock'));
  await new Promise((ready) => server.once('listening', ready));
  t.after(() => server.close());
  fs.symlinkSync('/dev/zero', path.join(root, 'workspaces/ana/zero'));
  for (const name of ['pipe', 'sock', 'zero', '.']) {
    const place = `workspaces/ana/${name}`;
    assert.equal(f.judge('ana', 'read', place).verdict, 'refuse', name);
    assert.equal(f.read('ana', place, 100).ok, false, name);
    assert.equal((await f.write('ana', place, 'x', true)).ok, false, name);
  }
  const listed = f.list('ana', 'workspaces/ana');
  assert.deepEqual(listed.ok && listed.value.map((entry) => [entry.name, entry.kind]), [
    ['pipe', 'other'],
    ['sock', 'other'],
    ['x', 'file'],
    ['zero', 'other'],
  ]);
});

test('a file without read permission is reported as such', (t) => {
  const { folder: f, root, put } = workspace(t);
  for (const open of [path.dirname(root), root]) fs.chmodSync(open, 0o755);
  fs.chmodSync(put('shut.md'), 0);
  const read = asNobody(() => f.read('ana', 'shut.md', 100));
  assert.equal(!read.ok && read.code, 'disk_failed');
});

/** Root may read everything, so it switches to another user for the call. */
function asNobody<T>(look: () => T): T {
  if (process.geteuid?.() !== 0) return look();
  process.seteuid!(65534);
  try {
    return look();
  } finally {
    process.seteuid!(0);
  }
}

test('a huge sparse file needs no memory, and binary content is not text', (t) => {
  const { folder: f, put } = workspace(t);
  fs.truncateSync(put('sparse'), 3 * 1024 ** 3);
  const before = process.memoryUsage().rss;
  const read = f.read('ana', 'sparse', 1024);
  assert.equal(!read.ok && read.code, 'bad_file');
  assert.ok(process.memoryUsage().rss - before < 50 * 1024 * 1024);
  fs.writeFileSync(put('latin1'), Buffer.from([0x66, 0xfc, 0x72]));
  const latin = f.read('ana', 'latin1', 100);
  assert.match(latin.ok ? '' : latin.reason, /not UTF-8/);
});

test('names with control characters are never opened', (t) => {
  const { folder: f, put } = workspace(t);
  put('two\nlines.md');
  assert.equal(f.judge('ana', 'read', 'two\nlines.md').verdict, 'refuse');
});

test('a write is atomic, creates folders, keeps permissions and leaves no temp file', async (t) => {
  const { folder: f, root } = workspace(t);
  assert.deepEqual(await f.write('ana', 'workspaces/ana/src/run.sh', 'one'), {
    ok: true,
    value: { bytes: 3, created: true },
  });
  const file = path.join(root, 'workspaces/ana/src/run.sh');
  fs.chmodSync(file, 0o755);
  assert.deepEqual(await f.write('ana', 'workspaces/ana/src/run.sh', 'two'), {
    ok: true,
    value: { bytes: 3, created: false },
  });
  assert.equal(fs.readFileSync(file, 'utf8'), 'two');
  assert.equal(fs.statSync(file).mode & 0o777, 0o755);
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['run.sh']);
});

test('a write syncs the file before the rename and the folder after it', async (t) => {
  const real = disk();
  const calls: string[] = [];
  const recording = new Proxy(real, {
    get:
      (target, name: keyof Disk) =>
      (...args: unknown[]) => {
        calls.push(name);
        return (target[name] as (...all: unknown[]) => unknown)(...args);
      },
  });
  const { folder: f, put } = workspace(t, recording);
  put('workspaces/ana/x');
  await f.write('ana', 'workspaces/ana/a.md', 'text');
  assert.deepEqual(calls, ['create', 'sync', 'rename', 'syncFolder']);
});

test('after a disk failure the old file remains and no temp file is left', async (t) => {
  const real = disk();
  const full: Disk = { ...real, sync: () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' })) };
  const { folder: f, put, root } = workspace(t, full);
  put('workspaces/ana/a.md', 'old');
  const written = await f.write('ana', 'workspaces/ana/a.md', 'new');
  assert.equal(!written.ok && written.code, 'disk_failed');
  assert.equal(fs.readFileSync(path.join(root, 'workspaces/ana/a.md'), 'utf8'), 'old');
  assert.deepEqual(fs.readdirSync(path.join(root, 'workspaces/ana')), ['a.md']);
});

test('writing outside the own folder needs approval, and a refusal cannot be approved', async (t) => {
  const { folder: f, root } = workspace(t);
  const asked = await f.write('ana', 'docs/a.md', 'x');
  assert.equal(!asked.ok && asked.code, 'needs_human');
  assert.equal(fs.existsSync(path.join(root, 'docs')), false);
  assert.equal((await f.write('ana', 'docs/a.md', 'x', true)).ok, true);
  const refused = await f.write('ana', 'agents/a.md', 'x', true);
  assert.equal(!refused.ok && refused.code, 'not_allowed');
  assert.equal((await f.makeFolder('ana', '.git/hooks', true)).ok, false);
  assert.deepEqual(fs.readdirSync(root), ['docs']);
});

test('folders are created with their parents, once', async (t) => {
  const { folder: f } = workspace(t);
  assert.deepEqual(await f.makeFolder('ana', 'workspaces/ana/a/b'), { ok: true, value: { created: true } });
  assert.deepEqual(await f.makeFolder('ana', 'workspaces/ana/a/b'), { ok: true, value: { created: false } });
  assert.equal((await f.write('ana', 'workspaces/ana/f', 'x')).ok, true);
  assert.equal((await f.makeFolder('ana', 'workspaces/ana/f/g')).ok, false);
});

test('a listing hides private entries', (t) => {
  const { folder: f, put } = workspace(t);
  put('.guild/runs/1');
  put('a.md', '1234');
  put('docs/b.md');
  assert.deepEqual(f.list('ana', '.'), {
    ok: true,
    value: [
      { name: 'a.md', kind: 'file', bytes: 4 },
      { name: 'docs', kind: 'folder', bytes: 0 },
    ],
  });
  const gone = f.list('ana', 'nowhere');
  assert.equal(!gone.ok && gone.code, 'not_found');
});

test('every path that is not refused is really inside the workspace', (t) => {
  const { folder: f, root, outside, put } = workspace(t);
  put('docs/a.md');
  put('workspaces/ana/x');
  const links: [string, string][] = [
    ['docs', 'in'],
    ['..', 'up'],
    [outside, 'out'],
    ['loop', 'loop'],
    ['in/../up', 'mix'],
    ['../../docs', 'workspaces/ana/d'],
    ['../../../outside/treasure', 'workspaces/ana/t'],
    ['/', 'top'],
    ['top/proc/self/cwd', 'cwd'],
  ];
  for (const [target, name] of links) fs.symlinkSync(target, path.join(root, name));
  const part = fc.constantFrom(
    '..',
    '.',
    'docs',
    'a.md',
    'ws',
    'in',
    'up',
    'out',
    'loop',
    'mix',
    'top',
    'cwd',
    'treasure',
    'outside',
    'workspaces',
    'ana',
    'd',
    't',
    'x',
    'new',
    'tmp',
  );
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 8 }),
      fc.constantFrom('', '/', `${root}/`),
      fc.constantFrom('read', 'write', 'list', 'make_folder'),
      (parts, start, use) => {
        const wanted = start + parts.join('/');
        const judged = f.judge('ana', use, wanted);
        if (judged.verdict === 'refuse') return;
        assert.ok(judged.path !== undefined && !judged.path.split('/').includes('..'));
        const file = path.posix.isAbsolute(wanted) ? wanted : `${root}/${wanted}`;
        if (!fs.existsSync(file)) return;
        assert.equal(fs.realpathSync.native(file), path.join(root, judged.path));
      },
    ),
    { numRuns: 3000 },
  );
});

test('walking by path gives the same answers as walking by descriptor', async (t) => {
  const { folder: f, root, outside, put } = workspace(t, disk(), 'path');
  put('docs/a.md', 'inside');
  put('workspaces/ana/x', 'old');
  fs.symlinkSync(outside, path.join(root, 'workspaces/ana/out'));
  fs.symlinkSync('../../docs', path.join(root, 'workspaces/ana/in'));
  const read = f.read('ana', 'workspaces/ana/in/a.md', 100);
  assert.equal(read.ok && read.value.text, 'inside');
  assert.equal(f.read('ana', 'workspaces/ana/out/treasure', 100).ok, false);
  assert.equal((await f.write('ana', 'workspaces/ana/out/new', 'x', true)).ok, false);
  assert.equal((await f.write('ana', 'workspaces/ana/deep/new', 'x')).ok, true);
  assert.equal((await f.write('ana', 'workspaces/ana/x', 'new')).ok, true);
  assert.deepEqual(fs.readdirSync(path.join(root, 'workspaces/ana')), ['deep', 'in', 'out', 'x']);
  const listed = f.list('ana', 'workspaces/ana');
  assert.deepEqual(listed.ok && listed.value.map((entry) => entry.kind), ['folder', 'folder', 'other', 'file']);
  assert.deepEqual(fs.readdirSync(outside), ['treasure']);
});

/**
 * Keeps swapping names: a folder for a link out, a file for a link or hard link to the treasure.
 */
const SWAPPER = `
  const fs = require('node:fs');
  const { workerData: { own, outside, swaps } } = require('node:worker_threads');
  const flag = new Int32Array(swaps);
  const quietly = (act) => { try { act(); } catch {} };
  let n = 0;
  for (;;) {
    quietly(() => fs.renameSync(own + '/d', own + '/d.real'));
    quietly(() => fs.symlinkSync(outside, own + '/d'));
    quietly(() => fs.unlinkSync(own + '/f'));
    quietly(() => n % 2 ? fs.symlinkSync(outside + '/treasure', own + '/f') : fs.linkSync(outside + '/treasure', own + '/f'));
    quietly(() => fs.unlinkSync(own + '/d'));
    quietly(() => fs.renameSync(own + '/d.real', own + '/d'));
    quietly(() => fs.unlinkSync(own + '/f'));
    quietly(() => fs.writeFileSync(own + '/f', 'mine'));
    n++;
    Atomics.add(flag, 0, 1);
  }
`;

if (process.platform === 'linux')
  test('creating a folder inside a deleted folder fails without hanging', (t) => {
    const { root } = workspace(t);
    const gone = path.join(root, 'gone');
    fs.mkdirSync(gone);
    const fd = fs.openSync(gone, 'r');
    t.after(() => fs.closeSync(fd));
    fs.rmdirSync(gone);
    assert.throws(() => disk().makeFolder(`/proc/self/fd/${fd}/sub/sub`), { code: 'ENOENT' });
  });

test('Low: by path, a folder that is swapped for a link is never read through, nor a write called done', async (t) => {
  const { folder: f, root, outside } = workspace(t, disk(), 'path');
  const own = path.join(root, 'workspaces/ana');
  fs.mkdirSync(path.join(own, 'd'), { recursive: true });
  fs.writeFileSync(path.join(own, 'd/treasure'), 'mine');
  fs.writeFileSync(path.join(own, 'f'), 'mine');
  const swaps = new SharedArrayBuffer(4);
  const swapper = new Worker(SWAPPER, { eval: true, workerData: { own, outside, swaps } });
  const flag = new Int32Array(swaps);
  const seen = { read: 0, refused: 0 };
  const hasSeenAll = async (): Promise<boolean> => {
    for (let round = 0; round < 2000; round++) {
      const read = f.read('ana', 'workspaces/ana/d/treasure', 100);
      seen[read.ok ? 'read' : 'refused']++;
      if (read.ok) assert.notEqual(read.value.text, 'TREASURE');
    }
    return Math.min(seen.read, seen.refused, Atomics.load(flag, 0)) >= 20;
  };
  try {
    await until(hasSeenAll);
  } finally {
    await swapper.terminate();
  }
  assert.ok(!fs.readdirSync(outside).some((name) => name.endsWith('.tmp')));
});

test('no race between check and use leads out of the workspace', async (t) => {
  const { folder: f, root, outside } = workspace(t);
  const own = path.join(root, 'workspaces/ana');
  fs.mkdirSync(path.join(own, 'd'), { recursive: true });
  fs.writeFileSync(path.join(own, 'd/treasure'), 'mine');
  fs.writeFileSync(path.join(own, 'f'), 'mine');
  const swaps = new SharedArrayBuffer(4);
  const swapper = new Worker(SWAPPER, { eval: true, workerData: { own, outside, swaps } });
  const flag = new Int32Array(swaps);
  const swapping = new Promise((_, fail) => swapper.once('error', fail));
  const seen = { read: 0, written: 0, refused: 0 };
  const count = (ok: boolean, what: 'read' | 'written'): void => void seen[ok ? what : 'refused']++;
  const look = async (): Promise<void> => {
    for (const name of ['workspaces/ana/d/treasure', 'workspaces/ana/f']) {
      const read = f.read('ana', name, 100);
      count(read.ok, 'read');
      if (read.ok) assert.notEqual(read.value.text, 'TREASURE');
    }
    count((await f.write('ana', 'workspaces/ana/d/treasure', 'mine')).ok, 'written');
    count((await f.write('ana', 'workspaces/ana/d/new', 'mine')).ok, 'written');
    await f.makeFolder('ana', 'workspaces/ana/d/sub/sub');
    const listed = f.list('ana', 'workspaces/ana/d');
    if (listed.ok) assert.ok(!listed.value.some((entry) => entry.name === 'other'));
    assert.deepEqual(fs.readdirSync(outside), ['treasure']);
    assert.equal(fs.readFileSync(path.join(outside, 'treasure'), 'utf8'), 'TREASURE');
  };
  const hasSeenAll = async (): Promise<boolean> => {
    for (let round = 0; round < 200; round++) await look();
    return Math.min(seen.read, seen.written, seen.refused, Atomics.load(flag, 0)) >= 20;
  };
  try {
    await Promise.race([until(hasSeenAll), swapping]);
  } finally {
    await swapper.terminate();
  }
  t.diagnostic(`${JSON.stringify(seen)} against ${Atomics.load(flag, 0)} swaps`);
});
