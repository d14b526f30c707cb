/** A request that is asked again says why: the change, and the machine on which it would run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalRequest } from '../../../src/domain/task/approval.js';
import type { Task } from '../../../src/domain/task/task.js';
import { disk } from '../../../src/adapters/disk/index.js';
import { boundContent } from '../../../src/adapters/bound-content/index.js';
import { machineOf, whyAgain } from '../../../src/engine/approvals/why-again.js';
import type { EngineContext } from '../../../src/engine/core/context.js';

const at = (host: string, desk: string | undefined = `ana@${host}`): EngineContext =>
  ({
    consent: { isSealed: (_: string, { seal }: ApprovalRequest) => seal !== 'forged' },
    content: boundContent({ root: process.cwd(), disk: disk() }),
    desk,
    presence: { peer: { host } },
  }) as unknown as EngineContext;
const request = (more: Partial<ApprovalRequest>): ApprovalRequest => ({
  ...{ tool: 'execute_command', arguments: { command: 'sh run.sh' }, agent: 'ana', session: 's', call: 'c' },
  ...{ reasons: [], taint: [], confinement: 'sandboxed', digest: 'first', walls: 'sandbox', ...more },
});
const asked = (context: EngineContext, given: ApprovalRequest) => {
  const task = { context: { request: given, ...machineOf(context) } } as unknown as Task;
  return { task, approval: { id: 'x', title: 'x', created: '', request: given } };
};

test('an action that moved says both machines and what is different there', () => {
  const before = asked(at('first'), request({}));
  const now = request({ digest: 'second', walls: 'none', confinement: 'not sandboxed' });
  assert.equal(
    whyAgain(at('second'), before, now),
    'it was asked on first, and would now run on second\nthe sandbox is gone: the command would now run without it',
  );
  const other = request({ digest: 'second', confinement: 'sandboxed with the network' });
  assert.match(whyAgain(at('first'), before, other), /^it would run differently from what you saw: sandboxed with/);
});

test('a changed file, an unknown key and any other change are reasons too', () => {
  const base = { path: 'memory/a.md', sha256: 'old' };
  const before = asked(at('first'), request({ base }));
  const changed = request({ digest: 'second', base: { ...base, sha256: 'new' } });
  assert.match(whyAgain(at('first'), before, changed), /^memory\/a\.md has changed/);
  assert.match(whyAgain(at('first'), before, request({ base })), /no signature that counts here/);
  assert.match(whyAgain(at('first'), before, request({ base, digest: 'second' })), /not exactly the one that you saw/);
});

test('a request of another machine was shown to nobody, so nothing is compared with it', () => {
  const before = asked(at('first'), request({ seal: 'forged' }));
  const now = request({ digest: 'second', confinement: 'not sandboxed' });
  assert.equal(
    whyAgain(at('first'), before, now),
    'the earlier request was not made on this machine, and was not shown',
  );
});

test('a workspace on one machine names none', () => {
  const here = at('first');
  delete (here as { desk?: string }).desk;
  assert.deepEqual(machineOf(here), {});
  assert.doesNotMatch(whyAgain(here, asked(at('second'), request({})), request({ digest: 'x' })), /would now run on/);
});
