/** “Always” is offered for exactly the commands that the gate can turn into a rule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNoRule } from '../../src/app/trust/no-rule.js';
import type { ApprovalRequest } from '../../src/domain/task/approval.js';

const request = (command: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest =>
  ({ tool: 'execute_command', arguments: { command }, taint: [], reasons: [], ...more }) as unknown as ApprovalRequest;

test('a rule can be made of a plain command', () => {
  for (const line of ['touch memory/built', 'mkdir memory/x', 'rm memory/old.md'])
    assert.equal(whyNoRule(request(line)), undefined, line);
});

test('no rule can be made of a command that may do something else tomorrow, or that outside text led to', () => {
  for (const line of ['npm test', './build.sh', 'bash workspaces/executor/x.sh', 'cp scratch/a b', 'make'])
    assert.match(whyNoRule(request(line)) ?? '', /agents can change/, line);
  assert.match(whyNoRule(request('touch a', { taint: ['slack'] })) ?? '', /text from slack/);
  assert.match(whyNoRule(request('curl a.example', { hosts: ['a.example'] })) ?? '', /network/);
  assert.match(whyNoRule(request('x', { tool: 'write_file' })) ?? '', /commands only/);
});
