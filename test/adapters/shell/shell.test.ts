/** Commands run, end and report their output the same way with and without the sandbox. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fc } from '../../kit/properties.js';
import { commandEnv } from '../../../src/adapters/shell/environment.js';
import { shell } from '../../../src/adapters/shell/index.js';
import { skipReason, shellBench, MODES } from '../../kit/commands.js';
import { tempFolder } from '../../kit/temp/folder.js';
import { until, withEnoughTime } from '../../kit/until.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('adapters/shell/shell', 4);

for (const mode of MODES) {
  const skip = skipReason(mode);

  test(`${mode}: approved text runs in bash in the agent's folder and returns its exit code`, { skip }, async (t) => {
    const { script, home } = shellBench(t, mode);
    const ran = await script('x=(a b); echo "${x[1]} $0"; pwd; exit 7');
    assert.deepEqual([ran.kind, ran.code, ran.output], ['exited', 7, `b bash\n${home}\n`]);
    assert.equal((await script('kill -9 $$')).code, 137);
    assert.equal((await script('if then')).code, 2);
  });

  test(`${mode}: a line that runs without a shell does the same as bash`, { skip }, async (t) => {
    const { line, script, root } = shellBench(t, mode);
    await script('cd ../..; printf "one\\ntwo\\nthree\\n" > f; mkdir d; echo x > "d/a b"');
    const lines = [
      'echo a b   c',
      "echo 'a  b' \"c'd\" e\\ f '$HOME' '`id`' ';' '|'",
      'cat f | grep t | wc -l',
      'cat nosuch; echo after',
      'cat nosuch && echo no || echo yes',
      'grep -q two f && echo found || echo lost',
      'grep -q four f || echo lost && echo then',
      'cat nosuch | cat',
      'echo a | cat nosuch',
      'cat nosuch 2>/dev/null; echo b',
      'cat nosuch f 2>&1 | wc -l',
      'cat nosuch f |& wc -l',
      'cat nosuch f 2>&1 >/dev/null | wc -l',
      'cat nosuch f >/dev/null 2>&1 | wc -l',
      'cat f nosuch &>/dev/null',
      'echo to-err 1>&2',
      'wc -l < f',
      'cat < f | head -n 1',
      'cat < nosuch || echo no',
      'cat < nosuch < f || echo no',
      'cat < f < "d/a b"',
      'ls d\nls nosuch-d 2>/dev/null',
      'grep -c e f; grep -c zzz f',
      'find . -name "a b"',
      'head -c 0 f',
    ];
    for (const text of lines) {
      const bash = spawnSync('bash', ['--norc', '--noprofile', '-c', `exec 2>&1; ${text}`], {
        cwd: root,
        env: { PATH: process.env['PATH'], LANG: 'C.UTF-8' },
        stdio: ['ignore', 'pipe', 'pipe'],
        encoding: 'utf8',
      });
      const ran = await line(text);
      const plain = (text: string): string => text.replace(/^bash: line \d+: /gm, '').replace(/^bash: /gm, '');
      assert.deepEqual([ran.code, plain(ran.output)], [bash.status, plain(bash.stdout)], text);
    }
  });

  test(`${mode}: lists of commands follow exit codes like bash`, { skip }, async (t) => {
    const { line, home } = shellBench(t, mode);
    await line('echo');
    const part = fc.constantFrom('echo a', 'echo b', 'cat nosuch', 'grep -q x', 'echo c | grep -q z', 'echo d | cat');
    const joint = fc.constantFrom(' ; ', ' && ', ' || ');
    await fc.assert(
      fc.asyncProperty(part, fc.array(fc.tuple(joint, part), { maxLength: 5 }), async (first, rest) => {
        const text = first + rest.flat().join('');
        const bash = spawnSync('bash', ['-c', `exec 2>&1; ${text}`], { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
        const ran = await line(text);
        assert.deepEqual([ran.code, ran.output], [bash.status, String(bash.stdout)], text);
      }),
      { numRuns: 6 },
    );
  });

  test(`${mode}: a command before & runs in the background and has ended with the line`, { skip }, async (t) => {
    const { line } = shellBench(t, mode);
    const ran = await line('echo one && echo two & echo beside');
    assert.equal(ran.code, 0);
    assert.deepEqual(ran.output.trim().split('\n').toSorted(), ['beside', 'one', 'two']);
  });

  test(`${mode}: an unknown command is reported like in bash`, { skip }, async (t) => {
    const { shell: instance, script } = shellBench(t, mode);
    const plan = [{ commands: [{ argv: ['no-such-thing', 'x'], redirections: [] }], pipes: [], then: ';' as const }];
    const ran = await instance.run({
      agent: 'ana',
      what: { plan },
      timeoutMs: 120_000,
      maxOutputBytes: 999,
      writes: 'own',
    });
    assert.deepEqual([ran.kind, ran.kind === 'exited' && ran.code], ['exited', 127]);
    assert.match(ran.kind === 'exited' ? ran.output : '', /^no-such-thing: command not found\n$/);
    assert.equal((await script('no-such-thing')).code, 127);
  });

  test(`${mode}: the environment is clean and input is empty`, { skip }, async (t) => {
    process.env['GUILD_TEST_API_KEY'] = 'sk-do-not-leak';
    t.after(() => delete process.env['GUILD_TEST_API_KEY']);
    const { script } = shellBench(t, mode);
    const ran = await script('env -u SHLVL -u _ -u PWD -u OLDPWD; ls -A ~; touch ~/x; cat; echo end');
    const names = Object.keys(commandEnv({ home: '', scratch: '' }));
    const variables = ran.output.split('\n').flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
    assert.deepEqual(variables.toSorted(), names.toSorted());
    assert.doesNotMatch(ran.output, /do-not-leak/);
    // Root without a sandbox may write any folder.
    assert.match(ran.output, mode === 'sandboxed' ? /touch: .*Read-only file system\nend\n$/ : /end\n$/);
  });

  test(`${mode}: standard output and error keep their order`, { skip }, async (t) => {
    const { script } = shellBench(t, mode);
    const ran = await script('for i in {1..200}; do echo o$i; echo e$i >&2; done');
    const wanted = Array.from({ length: 200 }, (_, i) => `o${i + 1}\ne${i + 1}\n`).join('');
    assert.equal(ran.output, wanted);
  });

  test(`${mode}: invalid bytes become replacement characters, and control characters stay`, { skip }, async (t) => {
    const { script } = shellBench(t, mode);
    const ran = await script(String.raw`printf 'a\xff\xfeb\0c\x1b[31md\xc3\xa4\n'`);
    assert.equal(ran.output, 'a\ufffd\ufffdb\0c\x1b[31mdä\n');
  });

  test(`${mode}: the head and tail of 50 MB are kept`, { skip }, async (t) => {
    const { script } = shellBench(t, mode);
    const ran = await script('echo first; head -c 50000000 /dev/zero | tr "\\0" "x"; echo; echo last', {
      maxOutputBytes: 10_000,
    });
    assert.deepEqual([ran.kind, ran.code, ran.cut], ['exited', 0, true]);
    assert.match(ran.output, /^first\nx{4994}\n\[… 49990012 of 50000012 bytes left out …\]\nx{4994}\nlast\n$/);
  });

  test(`${mode}: output is cut between characters`, { skip }, async (t) => {
    const { script } = shellBench(t, mode);
    const ran = await script('for i in {1..400}; do printf "ä€😀"; done', { maxOutputBytes: 1001 });
    assert.ok(ran.cut && !ran.output.includes('\ufffd'), ran.output.slice(0, 40));
  });

  test(`${mode}: endless output ends the command`, { skip }, async (t) => {
    const { script } = shellBench(t, mode, { limits: { runawayBytes: 1_000_000 } });
    const ran = await script('yes', { maxOutputBytes: 1000, writes: 'workspace' });
    assert.deepEqual([ran.kind, ran.kind === 'killed' && ran.by, ran.cut], ['killed', 'output', true]);
  });

  test(
    `${mode}: a time-out ends all processes, even those that ignore SIGTERM or left the group`,
    { skip },
    async (t) => {
      const { script, home } = shellBench(t, mode);
      const mark = `${86_000 + Math.floor(Math.random() * 10_000)}.${process.pid}`;
      const stubborn = `bash -c 'trap "" TERM; echo up; while :; do sleep ${mark}; done'`;
      const text = `trap "" TERM; (${stubborn} & ${stubborn}) & setsid ${stubborn} & touch started; wait; echo never`;
      const ran = await withEnoughTime(
        (timeoutMs) => script(text, { timeoutMs }),
        ({ output }) => output.length >= 'up\nup\nup\n'.length,
      );
      assert.deepEqual([ran.kind, ran.kind === 'killed' && ran.by], ['killed', 'time-out']);
      assert.equal(ran.output, 'up\nup\nup\n');
      assert.ok(fs.existsSync(path.join(home, 'started')));
      assert.deepEqual(running(mark), []);
    },
  );

  test(`${mode}: a command that handles SIGTERM can clean up`, { skip }, async (t) => {
    const { script, home } = shellBench(t, mode);
    const ran = await withEnoughTime(
      (timeoutMs) => script('trap "echo bye; touch cleaned; exit 3" TERM; sleep 600 & wait', { timeoutMs }),
      ({ output }) => output.includes('bye'),
    );
    assert.equal(ran.kind, 'killed');
    assert.match(ran.output, /bye/);
    assert.ok(fs.existsSync(path.join(home, 'cleaned')));
  });

  test(`${mode}: cancel ends a running command and one that waits for its turn`, { skip }, async (t) => {
    const { script, home } = shellBench(t, mode);
    const stop = new AbortController();
    const first = script('touch up; sleep 600', { signal: stop.signal });
    const second = script('touch second', { signal: stop.signal });
    await until(() => fs.existsSync(path.join(home, 'up')));
    stop.abort();
    const ended = await Promise.all([first, second]);
    assert.deepEqual(
      ended.map((ran) => [ran.kind, ran.kind === 'killed' && ran.by]),
      [
        ['killed', 'cancel'],
        ['killed', 'cancel'],
      ],
    );
    assert.equal((await script('ls')).output, 'up\n');
  });

  test(`${mode}: background processes have ended when the command is done`, { skip }, async (t) => {
    const { script } = shellBench(t, mode);
    const mark = `${76_000 + Math.floor(Math.random() * 10_000)}.${process.pid}`;
    const ran = await script(`sleep ${mark} & setsid sleep ${mark} & disown -a; echo done`);
    assert.deepEqual([ran.kind, ran.code, ran.output], ['exited', 0, 'done\n']);
    assert.deepEqual(running(mark), []);
  });

  test(`${mode}: a file cannot grow beyond the limit`, { skip: skip || noLimits() }, async (t) => {
    const { script, home } = shellBench(t, mode, { limits: { fileBytes: 100_000 } });
    const ran = await script('head -c 5000000 /dev/zero > big; echo "code $?"');
    assert.match(ran.output, /code 153|File too large/);
    assert.equal(fs.statSync(path.join(home, 'big')).size, 100_000);
  });

  test(`${mode}: commands of one agent run one after another; agents run in parallel`, { skip }, async (t) => {
    const { shell: instance, root } = shellBench(t, mode);
    const run = (agent: string, script: string) =>
      instance.run({
        agent,
        what: { script: `cd workspaces/${agent}; ${script}` },
        timeoutMs: 120_000,
        maxOutputBytes: 1000,
        writes: 'workspace',
      });
    const held = 'touch up; while [ ! -e go ]; do sleep 0.02; done; echo 1 >> log';
    const going = [run('ana', held), run('ana', 'echo 2 >> log; cat log'), run('bob', held), run('eve', held)];
    const file = (agent: string, name: string): string => path.join(root, 'workspaces', agent, name);
    for (const agent of ['ana', 'bob', 'eve']) await until(() => fs.existsSync(file(agent, 'up')));
    assert.ok(!fs.existsSync(file('ana', 'log')), 'the second waits while the first runs');
    for (const agent of ['ana', 'bob', 'eve']) fs.writeFileSync(file(agent, 'go'), '');
    const second = (await Promise.all(going))[1]!;
    assert.equal(second.kind === 'exited' && second.output, '1\n2\n');
    assert.deepEqual(fs.readdirSync(path.join(root, 'workspaces')).toSorted(), ['ana', 'bob', 'eve']);
  });

  test(`${mode}: unusual agent names work, and invalid ones are refused`, { skip }, async (t) => {
    const { shell: instance, root } = shellBench(t, mode);
    const run = (agent: string) =>
      instance.run({ agent, what: { script: 'pwd' }, timeoutMs: 120_000, maxOutputBytes: 1000, writes: 'workspace' });
    for (const agent of ['A.b-c_d', 'n'.repeat(100), 'main.lock']) {
      const ran = await run(agent);
      assert.equal(ran.kind === 'exited' && ran.output, `${root}\n`);
      assert.ok(ran.kind === 'exited' && ran.commit, agent);
    }
    for (const agent of ['', '.', '..', '../x', '-x', 'a/b', 'a b', 'a\0b', 'ä', '.git', 'n'.repeat(101)]) {
      assert.equal((await run(agent)).kind, 'not_started', JSON.stringify(agent));
    }
    fs.symlinkSync('/', path.join(root, 'workspaces', 'linked'));
    assert.equal((await run('linked')).kind, 'not_started');
  });

  test(`${mode}: arguments that the system rejects are reported, and nothing starts`, { skip }, async (t) => {
    const { shell: instance } = shellBench(t, mode);
    const run = (script: string) =>
      instance.run({ agent: 'ana', what: { script }, timeoutMs: 120_000, maxOutputBytes: 1000, writes: 'workspace' });
    assert.equal((await run('echo a\0b')).kind, 'not_started');
    assert.equal((await run(`echo ${'x'.repeat(3_000_000)}`)).kind, 'not_started');
    assert.equal((await run('echo fine')).kind, 'exited');
  });
}

test('npm starts in the environment of a command', (t) => {
  const [home, scratch] = [tempFolder('home', t), tempFolder('scratch', t)];
  const env = { ...commandEnv({ home, scratch }), PATH: process.env['PATH'] };
  const done = spawnSync('npm', ['config', 'get', 'globalconfig'], { env, cwd: scratch, encoding: 'utf8' });
  assert.deepEqual([done.status, done.stdout.trim()], [0, path.join(home, 'npmrc')], done.stderr);
});

test('the confinement text says if there is no sandbox', () => {
  const off = shell({ root: '/', env: { GUILD_SANDBOX: 'off' } });
  assert.equal(off.isSandboxed(), false);
  assert.match(off.confinement(undefined), /^not sandboxed, because .*the only restrictions are .*reach any host$/);
});

/** Command lines of running processes that contain this mark. */
function running(mark: string): string[] {
  const table = spawnSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' }).stdout;
  return table.split('\n').filter((line) => line.includes(mark) && !line.startsWith('Z'));
}

function noLimits(): string | false {
  return spawnSync('prlimit', ['--version']).status === 0 ? false : 'prlimit is not installed';
}
