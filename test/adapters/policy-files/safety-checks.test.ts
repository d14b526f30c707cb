/** Safety checks that a policy rule may name, run on real folders. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { removeFolder, tempFolder } from '../../kit/temp/folder.js';
import { disk } from '../../../src/adapters/disk/index.js';
import { gate } from '../../../src/adapters/policy-files/gate.js';
import { failedCheck } from '../../../src/adapters/policy-files/safety-checks.js';
import type { WorkspaceFiles } from '../../../src/ports/workspace-files.js';
import { agent } from '../../kit/rule-play.js';

const POLICY = `files:
  drafts: { pattern: write_file, supervision: automatic, safety_checks: [disk_space, permission] }
`;

function place(t: TestContext): string {
  const root = tempFolder('checks');
  fs.mkdirSync(path.join(root, 'storage'));
  fs.writeFileSync(path.join(root, 'storage/policy.yaml'), POLICY);
  t.after(() => {
    fs.chmodSync(root, 0o755);
    return removeFolder(root);
  });
  return root;
}

test('free space: enough and too little, also for folders that do not exist yet', (t) => {
  const root = place(t);
  assert.equal(failedCheck('disk_space', { root, file: 'a/b/c.md', bytes: 10 }), undefined);
  assert.match(failedCheck('disk_space', { root, file: 'a/b/c.md', bytes: 2 ** 60 })!, /do not fit on the device/);
});

test('permission: a folder that the system does not let anyone write', (t) => {
  const root = place(t);
  assert.equal(failedCheck('permission', { root, file: 'a/b/c.md', bytes: 10 }), undefined);
  fs.chmodSync(root, 0o555);
  const isAllowed = process.getuid?.() === 0; // root may write anywhere
  assert.equal(failedCheck('permission', { root, file: 'a/b/c.md', bytes: 10 }) === undefined, isAllowed);
});

test('a rule with safety checks allows a write without asking if they pass', (t) => {
  const root = place(t);
  const judge: WorkspaceFiles['judge'] = (_agent, _use, file) => ({
    verdict: 'ok',
    reason: 'its own folder',
    path: file,
  });
  const it = gate({ root, disk: disk(), folder: { judge } as WorkspaceFiles, peer: 'me', isSandboxed: () => true });
  const said = it.judge(agent('ana'), 'write_file', { path: 'workspaces/ana/x.md', content: 'hello' });
  assert.equal(said.verdict, 'auto');
  assert.match(said.reasons[0]!, /files\.drafts$/);
});
