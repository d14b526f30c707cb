import assert from 'node:assert/strict';
import test from 'node:test';
import { fc } from '../../kit/properties.js';
import { judgePath, judgeSpelling, useOfTool } from '../../../src/rules/policy/paths.js';
import { inLinearTime } from '../../kit/linear.js';

type Question = Parameters<typeof judgePath>[0];
type Verdict = ReturnType<typeof judgePath>['verdict'];
type Row = [use: Question['use'], path: string, verdict: Verdict, kind?: Question['kind']];

function promise(name: string, rows: Row[]): void {
  test(name, async (t) => {
    for (const [use, path, verdict, kind = 'missing'] of rows) {
      await t.test(`${use} ${JSON.stringify(path)} (${kind}): ${verdict}`, () => {
        const judged = judgePath({ agent: 'ana', use, path, kind });
        assert.equal(judged.verdict, verdict, judged.reason);
        assert.ok(judged.reason.length > 0);
      });
    }
  });
}

promise('reading inside the workspace is allowed', [
  ['read', 'docs/plan.md', 'ok', 'file'],
  ['read', 'tasks/pending/t1.json', 'ok', 'file'],
  ['read', 'tasks/approvals.task.md', 'ok', 'file'],
  ['read', 'agents/ana.md', 'ok', 'file'],
  ['read', 'AGENTS.md', 'ok', 'file'],
  ['read', 'Events/party.md', 'ok', 'file'],
  ['read', 'workspaces/bob/notes.md', 'ok', 'file'],
  ['read', 'environment.md', 'ok', 'file'],
  ['read', 'docs/secrets.md', 'ok', 'file'],
  ['read', 'docs/keyboard.txt', 'ok', 'file'],
  ['read', 'docs/naïve café.md', 'ok', 'file'],
  ['read', 'docs/100%.md', 'ok', 'file'],
  ['read', '会議/議事録.md', 'ok', 'file'],
  ['list', '', 'ok', 'folder'],
  ['list', 'docs', 'ok', 'folder'],
  ['read', 'not-yet.md', 'ok'],
]);

promise('secrets ask, in any case or width', [
  ['read', '.env', 'ask', 'file'],
  ['read', '.env.local', 'ask', 'file'],
  ['read', '.envrc', 'ask', 'file'],
  ['read', 'app/config/.env.production', 'ask', 'file'],
  ['read', '.ENV', 'ask', 'file'],
  ['read', '.ｅｎｖ', 'ask', 'file'],
  ['read', '.e\u200bnv', 'ask', 'file'],
  ['read', '%2eenv', 'ask', 'file'],
  ['read', 'secrets/db.yaml', 'ask', 'file'],
  ['read', 'Secrets/db.yaml', 'ask', 'file'],
  ['list', 'secrets', 'ask', 'folder'],
  ['read', 'keys/server.pem', 'ask', 'file'],
  ['read', 'keys/server.KEY', 'ask', 'file'],
  ['read', 'server.key.bak', 'ask', 'file'],
  ['read', 'id_rsa', 'ask', 'file'],
  ['read', 'deploy/id_ed25519', 'ask', 'file'],
  ['read', 'deploy/id_ed25519.pub', 'ok', 'file'],
  ['read', 'workspaces/ana/.ssh/config', 'ask', 'file'],
  ['read', '.npmrc', 'ask', 'file'],
  ['read', 'docs/twin.md', 'ask', 'twin'],
]);

promise('an agent writes only in its own folders without asking', [
  ['write', 'workspaces/ana/a.md', 'ok'],
  ['write', 'workspaces/ana/a.md', 'ok', 'file'],
  ['write', 'workspaces/ana/deep/er/a.md', 'ok'],
  ['write', 'workspaces/ana/.gitignore', 'ok'],
  ['write', 'workspaces/ana/agents/x.md', 'ok'],
  ['write', 'workspaces/ana/tasks/x.md', 'ok'],
  ['write', 'scratch/ana/a.md', 'ok'],
  ['make_folder', 'workspaces/ana', 'ok'],
  ['make_folder', 'workspaces/ana/src', 'ok'],
  ['write', 'workspaces/ana', 'refuse'],
  ['write', 'workspaces/bob/a.md', 'ask'],
  ['write', 'workspaces/ana-evil/a.md', 'ask'],
  ['write', 'workspaces/an/a.md', 'ask'],
  ['write', 'workspaces/ANA/a.md', 'refuse'],
  ['write', 'Workspaces/ana/a.md', 'refuse'],
  ['write', 'workspaces/ana\u200b/a.md', 'refuse'],
  ['write', 'docs/plan.md', 'ask', 'file'],
  ['write', 'README.md', 'ask'],
  ['write', 'memory/facts.md', 'ask'],
  ['write', 'agents.md', 'ask'],
  ['make_folder', 'docs/new', 'ask'],
  ['write', 'workspaces/ana/twin.md', 'refuse', 'twin'],
]);

promise('file tools never write the files of the program and of people', [
  ['write', 'tasks/approvals.task.md', 'refuse'],
  ['write', 'tasks/approvals.task.md', 'refuse', 'file'],
  ['write', 'tasks/pending/t9.json', 'refuse'],
  ['write', '.git/config', 'refuse'],
  ['write', '.git', 'refuse'],
  ['write', 'workspaces/ana/.git/hooks/pre-commit', 'refuse'],
  ['make_folder', 'workspaces/ana/.git', 'refuse'],
  ['write', '.guild/runs/x', 'refuse'],
  ['read', '.guild/runs/x', 'refuse', 'file'],
  ['list', '.guild', 'refuse', 'folder'],
  ['write', 'events/2026-01-01.jsonl', 'refuse'],
  ['write', 'agents/ana.md', 'refuse'],
  ['write', 'templates/x.agent.yaml', 'refuse'],
  ['write', 'storage/policy.yaml', 'refuse'],
  ['write', 'sessions/s1.session.yaml', 'refuse'],
  ['write', 'inbox/slack.jsonl', 'refuse'],
  ['write', 'plugins/x/index.mjs', 'refuse'],
  ['write', '.claude/agents/x.md', 'refuse'],
  ['write', '.claude/skills/x/SKILL.md', 'refuse'],
  ['write', '.agents/skills/x/run.sh', 'refuse'],
  ['write', '.opencode/agent/x.md', 'refuse'],
  ['write', '.gemini/agents/x.md', 'refuse'],
  ['write', '.github/agents/x.agent.md', 'refuse'],
  ['write', '.GitHub/Agents/x.agent.md', 'refuse'],
  ['write', '.github/workflows/ci.yml', 'ask'],
  ['write', '.mcp.json', 'refuse'],
  ['write', 'guild.yaml', 'refuse'],
  ['make_folder', 'agents', 'refuse'],
]);

promise('a name that only looks like a protected one is refused', [
  ['write', 'Agents/x.md', 'refuse'],
  ['write', 'TASKS/approvals.task.md', 'refuse'],
  ['write', 'tasks /approvals.task.md', 'refuse'],
  ['write', 'tasks./approvals.task.md', 'refuse'],
  ['write', 'ｔａｓｋｓ/approvals.task.md', 'refuse'],
  ['write', 'tas\u212as/x', 'refuse'],
  ['write', 'ta\u017fks/x', 'refuse'],
  ['write', 'ta\u0455ks/x', 'refuse'],
  ['write', 'events\u200d/x', 'refuse'],
  ['write', '\ufeffstorage/x', 'refuse'],
  ['write', 'tasks%2Fapprovals.task.md', 'refuse'],
  ['write', '%74asks/approvals.task.md', 'refuse'],
  ['write', '%2574asks/approvals.task.md', 'refuse'],
  ['write', 'tasks\\approvals.task.md', 'refuse'],
  ['write', 'tasks\u2215approvals.task.md', 'refuse'],
  ['read', 'tasks\\approvals.task.md', 'ask'],
  ['write', 'guild.yaml.', 'refuse'],
  ['write', 'GUILD.YAML', 'refuse'],
  ['write', 'workspaces/ana/.GIT/config', 'refuse'],
  ['write', 'workspaces/ana/.g\u0131t/config', 'refuse'],
  ['write', 'workspaces/ana/.git\u200c/config', 'refuse'],
  ['write', 'workspaces/ana/.git /config', 'refuse'],
  ['write', 'workspaces/ana/.git::$INDEX_ALLOCATION/config', 'refuse'],
  ['write', 'workspaces/ana/GIT~1/config', 'refuse'],
  ['write', 'workspaces/ana/%2egit/config', 'refuse'],
  ['write', 'workspaces/ana/..\\..\\agents\\x.md', 'refuse'],
  ['write', 'workspaces/ana/%2e%2e/%2e%2e/agents/x.md', 'refuse'],
  ['read', '.GUILD/x', 'refuse'],
  ['read', '.guild\u2060/x', 'refuse'],
  ['read', '\uff0e\uff0e/x', 'refuse'],
  ['write', 'workspaces/ana/a\nb', 'refuse'],
  ['read', 'a\u202eb', 'refuse'],
]);

promise('only files are read or written, and only folders are listed', [
  ['read', 'docs', 'refuse', 'folder'],
  ['read', 'pipe', 'refuse', 'other'],
  ['write', 'workspaces/ana/pipe', 'refuse', 'other'],
  ['write', 'workspaces/ana/dir', 'refuse', 'folder'],
  ['list', 'docs/a.md', 'refuse', 'file'],
  ['make_folder', 'workspaces/ana/a.md', 'refuse', 'file'],
]);

test('an agent whose name is not a safe file name owns nothing', () => {
  for (const agent of ['', '.', '..', 'a/b', '../ana', '-x']) {
    for (const path of [`workspaces/${agent}/x`, 'workspaces/x', 'workspaces//x', 'workspaces/a/b/x']) {
      const judged = judgePath({ agent, use: 'write', path, kind: 'missing' });
      assert.notEqual(judged.verdict, 'ok', `${agent} ${path}`);
    }
  }
});

test('misleading spellings are refused before any lookup', () => {
  const refused = [
    '',
    '  ',
    'a\0b',
    'a\nb',
    'a\x1b[2J',
    'a\x7f',
    'a\u0085',
    'a\u2028b',
    'a\u202eb',
    '\ud800',
    'x'.repeat(256),
    'a/'.repeat(2100),
    '~',
    '~/x',
    '~root/x',
    'file:///etc/passwd',
    'https://x.example/y',
    'C:\\x',
    'c:/x',
    '\\\\host\\share',
    '%2e%2e/%2e%2e/etc/passwd',
    '..%2f..%2fetc/passwd',
    '..\\..\\etc\\passwd',
    '%252e%252e%252fetc',
    '%2fetc%2fpasswd',
    '\uff0e\uff0e/etc/passwd',
    'docs/\u2024\u2024/\u2024\u2024/etc',
    '\\etc\\passwd',
    '.\u200b./x',
  ];
  for (const path of refused) assert.equal(judgeSpelling(path).verdict, 'refuse', JSON.stringify(path));
  for (const path of [undefined, null, 7, {}, ['x']]) assert.equal(judgeSpelling(path).verdict, 'refuse');
  for (const path of [
    '.',
    'a.md',
    './a.md',
    'docs/../a.md',
    '../x',
    '/etc/passwd',
    'a b.md',
    'a~',
    '50%.md',
    'é/ü.md',
    '👩‍💻.md',
  ]) {
    assert.equal(judgeSpelling(path).verdict, 'ok', JSON.stringify(path));
  }
});

const piece = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '',
    'workspaces',
    'ana',
    'scratch',
    '.git',
    '.guild',
    'agents',
    'tasks',
    '%2e%2e',
    '．．',
    '..\\..',
    '\u200b..',
    ' ..',
    '..;',
  ),
  fc.string({ maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 4 }),
);

test('a path outside the workspace is never ok', () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.constantFrom('read', 'write', 'list', 'make_folder'),
      (pieces, use) => {
        const path = pieces.join('/');
        const question = { agent: 'ana', use, kind: 'missing', path } as const;
        assert.equal(judgePath({ ...question, outside: true }).verdict, 'refuse');
        if (path.split('/').includes('..')) assert.equal(judgePath(question).verdict, 'refuse');
      },
    ),
    { numRuns: 2000 },
  );
});

test("a write is ok only below the agent's own folders and outside any .git", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const path = pieces.join('/');
      const question = { agent: 'ana', use: 'write', kind: 'missing', path } as const;
      const judged = judgePath(question);
      assert.deepEqual(judgePath(question), judged);
      if (judged.verdict !== 'ok') return;
      assert.match(path.replace(/\/+/g, '/').replace(/^\//, ''), /^(workspaces|scratch)\/ana\/./);
      assert.ok(!path.toLowerCase().split('/').includes('.git'));
    }),
    { numRuns: 5000 },
  );
});

test('judging a hostile path takes linear time', () => {
  for (const part of ['%2e\u200b.ａ/', '../', '/', '%', '.', ' ', 'a\\']) {
    const path = 'workspaces/ana/' + part.repeat(300_000);
    inLinearTime(part, () => {
      judgeSpelling(path);
      judgePath({ agent: 'ana', use: 'write', path, kind: 'missing' });
    });
  }
});

test('only file tools have a use of paths', () => {
  assert.deepEqual(['read_file', 'write_file', 'create_directory', 'search_files', 'write'].map(useOfTool), [
    'read',
    'write',
    'make_folder',
    'list',
    'write',
  ]);
  assert.equal(useOfTool('execute_command'), undefined);
  assert.equal(useOfTool('constructor'), undefined);
});
