/** A sandboxed command cannot see secrets, write outside its folder or use the network. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../../kit/temp/folder.js';
import { shell } from '../../../src/adapters/shell/index.js';
import { shellBench, NO_SANDBOX, type ShellBench } from '../../kit/commands.js';
import { until } from '../../kit/until.js';

const skip = NO_SANDBOX;

function filledWorkspace(t: TestContext): ShellBench {
  const bench = shellBench(t, 'sandboxed');
  const files = {
    'guild.yaml': 'models: {}',
    'agents/ana.md': 'prompt',
    'tasks/approvals.task.md': '- [ ] one',
    'storage/policy.yaml': 'rules: {}',
    'events/2026-01-01.jsonl': '{}',
    'sessions/s1.session.yaml': 'SECRET',
    'quarantine/s2.session.yaml': 'SECRET',
    '.guild/effects/1': 'SECRET',
    '.git/config': 'SECRET',
    '.env': 'SECRET',
    '.env.local': 'SECRET',
    '.Env.Prod': 'SECRET',
    'secrets/key': 'SECRET',
    'server.pem': 'SECRET',
    'lib/readme.md': 'public',
    'lib/deep/.env': 'SECRET',
    'lib/deep/secrets/key': 'SECRET',
    'lib/deep/id_rsa': 'SECRET',
    'workspaces/bob/notes.md': 'public',
    'workspaces/bob/.env': 'SECRET',
    'workspaces/ana/.env': 'own',
  };
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(bench.root, name)), { recursive: true });
    fs.writeFileSync(path.join(bench.root, name), text);
  }
  return bench;
}

test('the confinement text names the sandbox', { skip }, () => {
  const here = shell({ root: os.tmpdir() });
  assert.match(here.confinement(undefined), /^sandboxed \(bubblewrap, no network\)/);
  assert.match(here.confinement(['example.org']), /^sandboxed \(bubblewrap, only the approved hosts\)/);
});

test('private files are invisible, and the rest can be read', { skip }, async (t) => {
  const { script, line, root } = filledWorkspace(t);
  assert.match((await line('ls -A')).output, /^agents\nevents\nguild\.yaml\nlib\nstorage\ntasks\nworkspaces\n/);
  const seen = await script(
    `cd ${root} && grep -rs SECRET . ; echo "found $?"; cat workspaces/bob/notes.md lib/readme.md guild.yaml`,
  );
  assert.doesNotMatch(seen.output, /SECRET/);
  assert.match(seen.output, /found [12]\npublicpublicmodels: \{\}$/);
  assert.equal((await script('cat .env')).output, 'own');
});

test('a private file created while the command runs is invisible to it', { skip }, async (t) => {
  const { script, root, home } = filledWorkspace(t);
  const ran = script(`touch up; while [ ! -e go ]; do sleep 0.02; done; cat ${root}/.env ${root}/.guild/new`);
  await until(() => fs.existsSync(path.join(home, 'up')));
  fs.writeFileSync(path.join(root, '.env'), 'SECRET');
  fs.writeFileSync(path.join(root, '.guild/new'), 'SECRET');
  fs.writeFileSync(path.join(home, 'go'), '');
  const { output } = await ran;
  assert.doesNotMatch(output, /SECRET/);
});

test('links and input redirections reach only visible files', { skip }, async (t) => {
  const { script, line, root } = filledWorkspace(t);
  await script(`ln -s ${root}/.guild/effects/1 a; ln -s ../../.env b; ln -s /etc/shadow c; ln -s ${root}/sessions d`);
  for (const text of ['cat < a', 'cat < b', 'cat a b c', 'cat < c', 'ls d/']) {
    const ran = await line(text);
    assert.notEqual(ran.code, 0, text);
    assert.doesNotMatch(ran.output, /SECRET|root:/);
  }
});

test("the user's home, /root and password data do not exist", { skip }, async (t) => {
  const { script } = filledWorkspace(t);
  const probe = path.join(os.homedir(), `.guild-probe-${process.pid}`);
  fs.writeFileSync(probe, 'SECRET');
  t.after(() => fs.rmSync(probe, { force: true }));
  const ran = await script(`cat ${probe}; ls /root /home /etc/shadow /etc/ssh /var/run/docker.sock /run; true`);
  assert.doesNotMatch(ran.output, /SECRET/);
  assert.equal(ran.output.match(/No such file or directory/g)?.length, 6, ran.output);
  assert.match(ran.output, /^\/home:\nguild$/m);
});

test('an approved command writes the workspace, but no rule, record, secret or other folder', { skip }, async (t) => {
  const { script, root, home } = filledWorkspace(t);
  await script('true');
  const before = tree(root);
  const places = [
    ...['guild.yaml', 'tasks/approvals.task.md', 'tasks/new.task.md', 'storage/policy.yaml', 'agents/evil.md'],
    ...[
      '.env',
      '.guild/x',
      '.git/config',
      '.git/hooks/post-commit',
      'sessions/x',
      'workspaces/bob/x',
      'workspaces/new',
    ],
  ].map((name) => path.join(root, name));
  const all = [...places, '/usr/x', '/etc/x', '/x', '/root/x', '/home/x', `${os.homedir()}/x`];
  const ran = await script(
    `for f in ${all.join(' ')}; do mkdir -p "$(dirname $f)"; echo x > $f && echo "WROTE $f"; done 2>/dev/null`,
  );
  assert.equal(ran.output, '');
  await script('rm -rf ../../tasks; mv ../bob x; chmod 777 ../../guild.yaml; ln -f ../../guild.yaml here');
  assert.deepEqual(tree(root), before);
  assert.equal((await script('echo mine > f; echo t > /tmp/t; cat f /tmp/t')).output, 'mine\nt\n');
  assert.equal(fs.readFileSync(path.join(home, 'f'), 'utf8'), 'mine\n');
  assert.equal((await script('cd ../..; echo new > new.txt; echo more >> lib/readme.md; mkdir -p out/x')).code, 0);
  assert.equal(fs.readFileSync(path.join(root, 'new.txt'), 'utf8'), 'new\n');
  assert.match(fs.readFileSync(path.join(root, 'lib/readme.md'), 'utf8'), /more/);
});

test("a command cannot plant programs for a person's Git in its history", { skip }, async (t) => {
  const { script, home } = filledWorkspace(t);
  await script('true');
  const config = fs.readFileSync(path.join(home, '.git/config'), 'utf8');
  for (const text of [
    'git config core.fsmonitor "touch /tmp/owned"',
    'echo "[core] fsmonitor = x" >> .git/config',
    'rm -f .git/config',
    'mv .git g',
    'echo "touch owned" > .git/hooks/post-commit',
    'rm -rf .git/hooks',
  ]) {
    const ran = await script(text);
    assert.notEqual(ran.code, 0, text);
  }
  await script('mkdir c; printf "[core]\\n fsmonitor = x\\n" > c/config; echo ../c > .git/commondir');
  assert.equal(fs.readFileSync(path.join(home, '.git/config'), 'utf8'), config);
  assert.deepEqual(fs.readdirSync(path.join(home, '.git/hooks')), []);
  assert.equal(fs.existsSync(path.join(home, '.git/commondir')), false);
  assert.equal((await script('git status --short && git log -1 --format=%an')).output, 'ana\n');
});

test('there is no network, and an approved host is reached only through the proxy', { skip }, async (t) => {
  const { script } = filledWorkspace(t);
  const server = net.createServer((socket) => socket.end('REACHED\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as net.AddressInfo;
  const text = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
  assert.doesNotMatch((await script(text)).output, /REACHED/);
  assert.doesNotMatch((await script(text, { hosts: [`127.0.0.1:${port}`] })).output, /REACHED/);
});

test('a command sees only its own processes and has no privileges', { skip }, async (t) => {
  const { script } = filledWorkspace(t);
  const ran = await script(
    `ls -d /proc/[0-9]* | wc -l; grep CapEff /proc/self/status; kill -0 ${process.pid}; mount -t tmpfs x /tmp`,
  );
  const [count, caps] = ran.output.split('\n');
  assert.ok(Number(count) < 8, count);
  assert.match(caps!, /CapEff:\s+0+2?$/);
  assert.match(ran.output, /No such process/);
  assert.notEqual(ran.code, 0);
});

test('a workspace path may contain links, spaces and quotes', { skip }, async (t) => {
  const { root } = filledWorkspace(t);
  const odd = path.join(root, 'a \'b" $c');
  fs.mkdirSync(odd);
  const link = path.join(root, 'link');
  fs.symlinkSync(odd, link);
  const instance = shell({ root: link });
  const ran = await instance.run({
    agent: 'x',
    what: { script: 'pwd; echo y > workspaces/x/f' },
    timeoutMs: 120_000,
    maxOutputBytes: 999,
    writes: 'workspace',
  });
  assert.equal(ran.kind === 'exited' && ran.output, `${odd}\n`);
  assert.ok(fs.existsSync(path.join(odd, 'workspaces/x/f')));
});

test('a folder with too many entries to check for secrets is invisible', { skip }, async (t) => {
  const { line, root } = shellBench(t, 'sandboxed', { limits: { maxEntries: 10 } });
  for (const [name, count] of Object.entries({ huge: 11, small: 9 })) {
    fs.mkdirSync(path.join(root, name));
    for (let n = 0; n < count; n++) fs.writeFileSync(path.join(root, name, String(n)), '');
  }
  assert.equal((await line('ls')).output, 'small\nworkspaces\n');
});

test('the sandbox works for root and for an ordinary user', { skip }, (t) => {
  const root = tempFolder('user', t);
  const compiled = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'src');
  for (const part of ['adapters/shell', 'domain', 'ports', 'rules', 'text']) {
    fs.cpSync(path.join(compiled, part), path.join(root, 'code', part), { recursive: true });
  }
  fs.writeFileSync(path.join(root, 'code/package.json'), '{"type": "module"}');
  fs.mkdirSync(path.join(root, 'ws'));
  const isRoot = process.getuid!() === 0;
  const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
  if (isRoot) for (const folder of ['.', 'ws']) fs.chownSync(path.join(root, folder), 65_534, 65_534);
  const text = `import { shell } from ${JSON.stringify(path.join(root, 'code/adapters/shell/index.js'))};
    const it = shell({ root: ${JSON.stringify(path.join(root, 'ws'))} });
    const ran = await it.run({ agent: 'ana', what: { script: 'id -u; echo x > workspaces/ana/f; echo y > agents/z' }, timeoutMs: 120_000, maxOutputBytes: 999, writes: 'workspace' });
    console.log(JSON.stringify([it.isSandboxed(), ran]));`;
  const done = spawnSync(process.execPath, ['--input-type=module', '-e', text], {
    ...user,
    cwd: root,
    encoding: 'utf8',
  });
  const [isSandboxed, ran] = JSON.parse(done.stdout || JSON.stringify([done.stderr]));
  assert.equal(isSandboxed, true);
  assert.match(ran.output, isRoot ? /^65534\n.*Read-only file system\n$/ : /^\d+\n.*Read-only file system\n$/);
  assert.match(ran.commit, /^[0-9a-f]{40}/, JSON.stringify(ran));
});

test('a command ends with the process that started it, even if that is killed', { skip }, async (t) => {
  const { root, home } = filledWorkspace(t);
  const compiled = new URL('../../../src/adapters/shell/index.js', import.meta.url).href;
  const mark = `${66_000 + Math.floor(Math.random() * 9000)}.${process.pid}`;
  const script = `trap "" TERM HUP; setsid sleep ${mark} & touch workspaces/ana/up; sleep ${mark}`;
  const text = `import { shell } from ${JSON.stringify(compiled)};
    const run = { agent: 'ana', what: { script: ${JSON.stringify(script)} }, timeoutMs: 600_000, maxOutputBytes: 999, writes: 'workspace' };
    await shell({ root: ${JSON.stringify(root)} }).run(run);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: 'ignore' });
  await until(() => fs.existsSync(path.join(home, 'up')));
  const count = (): number =>
    spawnSync('ps', ['-eo', 'args='], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((args) => args === `sleep ${mark}`).length;
  await until(() => count() === 2);
  child.kill('SIGKILL');
  await until(() => count() === 0);
});

function tree(root: string): string[] {
  const files = fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('workspaces/ana'));
  return files.toSorted().map((name) => {
    const stat = fs.lstatSync(path.join(root, name));
    return `${name} ${stat.mode} ${stat.isFile() ? fs.readFileSync(path.join(root, name), 'utf8') : ''}`;
  });
}
