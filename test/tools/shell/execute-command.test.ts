import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Agent } from '../../../src/domain/agent/agent.js';
import type { PlainPipeline } from '../../../src/domain/policy.js';
import { makeTask } from '../../../src/domain/task/task.js';
import type { Shell, ShellOutcome } from '../../../src/ports/shell.js';
import { checkArgs } from '../../../src/tools/core/args.js';
import { executeCommand } from '../../../src/tools/shell/execute-command.js';
import type { ToolContext, ToolReply } from '../../../src/tools/core/tool.js';
import { shellBench, planOf } from '../../kit/commands.js';
import { withEnoughTime } from '../../kit/until.js';

type More = Partial<Pick<ToolContext, 'approved' | 'shell' | 'signal'>> & { plan?: PlainPipeline[] };

async function use(args: Record<string, unknown>, more: More): Promise<ToolReply> {
  assert.equal(checkArgs(executeCommand.parameters, args), undefined);
  const context = {
    agent: { name: 'ana' } as Agent,
    task: makeTask({ id: 't1', description: 'do', created_at: '2026-01-01T00:00:00Z' }),
    callId: 'c1',
    approved: false,
    agents: new Map(),
    ...more,
  } as unknown as ToolContext;
  return executeCommand.run(args, context);
}

function real(t: TestContext): Shell {
  return shellBench(t, 'not sandboxed').shell;
}

test('an allowed line runs as parsed arguments, an approved one as Bash text', async (t) => {
  const shell = real(t);
  const byWords = await use({ command: "echo '$((1+1))'" }, { shell, plan: planOf("echo '$((1+1))'") });
  assert.deepEqual(byWords, { kind: 'text', text: 'exit code 0\n$((1+1))' });
  const asText = await use({ command: 'echo $((1+1)); echo' }, { shell, approved: true });
  assert.deepEqual(asText, { kind: 'text', text: 'exit code 0\n2\n' });
});

test('a failed command is a result that says so', async (t) => {
  const reply = await use({ command: 'echo out; exit 4' }, { shell: real(t), approved: true });
  assert.deepEqual(reply, { kind: 'text', text: 'exit code 4 (it failed)\nout' });
  const quiet = await use({ command: 'false' }, { shell: real(t), approved: true });
  assert.deepEqual(quiet, { kind: 'text', text: 'exit code 1 (it failed)\n(no output)' });
});

test('a timeout and a cancellation are problems that include the output so far', async (t) => {
  const shell = real(t);
  const late = await withEnoughTime(
    (ms) => use({ command: 'echo before; sleep 600', timeout_s: ms / 1000 }, { shell, approved: true }),
    (reply) => reply.kind === 'problem' && reply.message.includes('before'),
    1000,
  );
  assert.ok(late.kind === 'problem' && late.code === 'timed_out');
  assert.match(late.message, /^it ran longer than \d+ s; .*output so far:\nbefore$/s);
  const gone = await use({ command: 'sleep 60' }, { shell, approved: true, signal: AbortSignal.abort() });
  assert.ok(gone.kind === 'problem' && gone.code === 'cancelled');
});

test('errors and notices of the shell reach the model', async () => {
  const says = (outcome: ShellOutcome): Shell => ({ run: async () => outcome }) as unknown as Shell;
  const not = await use({ command: 'x' }, { shell: says({ kind: 'not_started', reason: 'no folder' }) });
  assert.deepEqual(not, { kind: 'problem', code: 'tool_failed', message: 'it was not started: no folder' });
  const base = { output: 'o\n', cut: false, ms: 1 };
  const noted = await use(
    { command: 'x' },
    { shell: says({ kind: 'exited', code: 0, note: 'not committed', ...base }) },
  );
  assert.deepEqual(noted, { kind: 'text', text: 'exit code 0\no\n[not committed]' });
  const loud = await use({ command: 'x' }, { shell: says({ kind: 'killed', by: 'output', ...base }) });
  assert.ok(loud.kind === 'problem' && loud.code === 'over_limit');
});

test('an empty command and a wrong timeout are reported', async (t) => {
  const empty = await use({ command: ' \n' }, { shell: real(t) });
  assert.ok(empty.kind === 'problem' && empty.code === 'bad_field');
  for (const args of [{}, { command: 1 }, { command: 'ls', timeout_s: 0 }, { command: 'ls', timeout_s: 601 }]) {
    assert.notEqual(checkArgs(executeCommand.parameters, args), undefined);
  }
});
