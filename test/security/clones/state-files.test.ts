/**
 * Each file and folder of a workspace that was used becomes a link, a pipe, a device, a folder or
 * unreadable, as a folder from elsewhere may bring it. Commands end, write nothing outside, and
 * never fail as a bug of the program.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { place, type Place } from '../../kit/guild.js';
import { sampleOf } from '../../kit/sample.js';
import { SEED } from '../../kit/seed.js';

const FILES = {
  'guild.yaml': `model: s/x
providers: {s: {kind: scripted, script: script.yaml}}
default_agent: boss
notify: {gather: 1ms}
`,
  'script.yaml': `- when: {system: You help}
  say: helped
- turn: 1
  call: [{write_file: {path: workspaces/boss/a.txt, content: "one"}}, {execute_command: {command: "ls"}}]
- turn: 2
  call: [{execute_command: {command: "touch x"}}]
- say: done
`,
  'agents/boss.md': '---\ndescription: Works\ntools: [read_file, write_file, execute_command]\n---\nYou work.\n',
  'agents/hand.md': '---\ndescription: Helps\n---\nYou help.\n',
  'tasks/team.task.md': '# Team\n## TODO\n- [ ] Tidy the shed @hand\n',
  'inbox/slack-messages.jsonl': '{"id":"1","from":"mallory","text":"hello","channel":"general"}\n',
  'memory/note.md': 'a note\n',
  'storage/policy.yaml': '# none\n',
  'storage/terminal-cmd-allowlist.yaml': '# none\n',
  '.env': 'KEY=secret-value\n',
};

/** Files that do not exist yet. Whoever sent the folder knows the names of later records. */
const LATER = [
  'results/t2.md',
  'tasks/completed/t2.json',
  'sessions/hand-t2.session.yaml',
  '.guild/cache',
  '.mcp.json',
];
const COMMANDS = [['pump'], ['state'], ['check'], ['run', 'hand', 'again']];
const KINDS = ['a link', 'a dangling link', 'a link to a device', 'a FIFO', 'a folder', 'unreadable'] as const;
type Kind = (typeof KINDS)[number];
const LIMIT_MS = 60_000;

test(`a state file that is something else: nothing hangs and nothing outside changes, SEED=${SEED}`, async (t) => {
  const used = place(t, FILES);
  await used.guild('run', 'boss', 'Begin the work');
  await used.guild('pump');
  const names = [...namesIn(used.root), ...LATER];
  assert.ok(names.some((name) => name.startsWith('.guild/notified/')) && names.includes('.guild/history/stamps'));
  const cases = names.flatMap((name) => KINDS.map((kind) => ({ name, kind })));
  for (const { name, kind } of sampleOf('state-files', cases, 71))
    await t.test(`${name} as ${kind}`, (inner) => tryCase(inner, used, name, kind));
});

/** One name of each shape: names that differ only in ids or hashes have the same shape. */
function namesIn(root: string): string[] {
  const names = fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  const isGit = (name: string): boolean => /(?:^|\/)(?:history\.git|\.git)\//.test(name);
  const byShape = new Map(names.filter((name) => !isGit(name)).map((name) => [shapeOf(name), name]));
  return [...byShape.values()];
}

function shapeOf(name: string): string {
  return name.replace(/[0-9a-f]{20,}/g, '#').replace(/(task_|call-|journal\/|board-team-|ballot\/)\w+/g, '$1#');
}

async function tryCase(t: TestContext, used: Place, name: string, kind: Kind): Promise<void> {
  const victim = place(t, { diary: 'dear diary\n' });
  const clone = place(t);
  fs.cpSync(used.root, clone.root, { recursive: true });
  clone.put('tasks/pending/t2.json', '{"description": "more", "to": "hand"}');
  const at = path.join(clone.root, name);
  const wasFolder = fs.statSync(at, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!replaced(at, kind, victim.root, wasFolder)) return;
  for (const args of COMMANDS) {
    // A call that blocks would block this process, too.
    const { ended, child } = clone.spawnWith({ untrusted: true }, ...args);
    const stop = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    const { code, out, err } = await ended;
    clearTimeout(stop);
    assert.notEqual(code, null, `guild ${args.join(' ')} hangs`);
    assert.doesNotMatch(out + err, /a bug in guild/, args.join(' '));
    assert.deepEqual(victim.list('.'), ['diary'], args.join(' '));
    assert.equal(victim.read('diary'), 'dear diary\n', args.join(' '));
  }
  if (kind === 'unreadable') fs.chmodSync(at, 0o700);
}

/** Returns false if this kind does not apply to the entry. */
function replaced(at: string, kind: Kind, victim: string, wasFolder: boolean): boolean {
  if (kind === 'unreadable') {
    if (process.getuid?.() === 0 || !fs.existsSync(at)) return false;
    fs.chmodSync(at, 0);
    return true;
  }
  if (kind === 'a folder' && wasFolder) return false;
  fs.rmSync(at, { recursive: true, force: true });
  fs.mkdirSync(path.dirname(at), { recursive: true, mode: 0o700 });
  if (kind === 'a folder') fs.mkdirSync(at, { mode: 0o700 });
  else if (kind === 'a FIFO') execFileSync('mkfifo', ['-m', '600', at]);
  else if (kind === 'a link') fs.symlinkSync(wasFolder ? victim : path.join(victim, 'diary'), at);
  else fs.symlinkSync(kind === 'a dangling link' ? path.join(victim, 'new') : '/dev/zero', at);
  return true;
}
