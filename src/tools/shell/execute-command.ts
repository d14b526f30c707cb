/**
 * Runs a command in the workspace. The gate has already judged it. A command that needs no approval
 * runs exactly as it was judged, without a shell; an approved line runs as Bash text.
 */
import { defined } from '../../domain/defined.js';
import type { ShellOutcome } from '../../ports/shell.js';
import { defineTool, integer, optional, text, texts, toolProblem } from '../core/define-tool.js';
import type { ToolReply } from '../core/tool.js';

const DEFAULT_SECONDS = 60;
const MAX_SECONDS = 600;
/** More than a conversation holds: longer output is stored separately and quoted. */
const MAX_OUTPUT_BYTES = 256 * 1024;

export const executeCommand = defineTool({
  name: 'execute_command',
  kind: 'effect',
  description:
    'Runs a command line as Bash would, in the workspace: paths mean the same as in file tools. Plain reading commands such as ls, cat, grep or find run at once, and git status, log and diff show your own folder; anything else waits for a human. There is no input and no terminal.',
  args: {
    command: text('The command line'),
    timeout_s: optional(
      integer(`Seconds after which it is stopped; ${DEFAULT_SECONDS} if left out`, {
        minimum: 1,
        maximum: MAX_SECONDS,
      }),
    ),
    hosts: optional(
      texts('Hosts it needs, such as registry.npmjs.org; it has no other network, and a human is always asked'),
    ),
  },
  async run({ command, timeout_s: seconds = DEFAULT_SECONDS, hosts }, context) {
    const { shell, plan, action, agent, task, signal, walls } = context;
    if (command.trim() === '') return toolProblem('bad_field', 'command is empty; say what to run');
    const outcome = await shell.run(
      defined({
        agent: agent.name,
        what: action ? { action } : plan ? { plan } : { script: command },
        task: task.id,
        command,
        timeoutMs: seconds * 1000,
        maxOutputBytes: MAX_OUTPUT_BYTES,
        hosts,
        writes: context.approved ? 'workspace' : 'own',
        signal,
        walls,
      }),
    );
    return replyOf(outcome, seconds);
  },
});

/**
 * A failed command has run, so its exit code and output are the result. Only an interruption is a
 * problem.
 */
function replyOf(outcome: ShellOutcome, seconds: number): ToolReply {
  if (outcome.kind === 'not_started') return toolProblem('tool_failed', `it was not started: ${outcome.reason}`);
  const note = outcome.note === undefined ? '' : `\n[${outcome.note}]`;
  const output = (outcome.output === '' ? '(no output)' : outcome.output.replace(/\n$/, '')) + note;
  if (outcome.kind === 'exited') {
    const failed = outcome.code === 0 ? '' : ' (it failed)';
    return { kind: 'text', text: `exit code ${outcome.code}${failed}\n${output}` };
  }
  const stopped = `all of its processes were stopped, and its effects so far remain. Its output so far:\n${output}`;
  switch (outcome.by) {
    case 'time-out':
      return toolProblem('timed_out', `it ran longer than ${seconds} s; ${stopped}`);
    case 'cancel':
      return toolProblem('cancelled', `it was cancelled; ${stopped}`);
    case 'output':
      return toolProblem('over_limit', `it wrote far too much output; ${stopped}`);
    case 'signal':
      return toolProblem('tool_failed', `it was killed by a signal; ${stopped}`);
  }
}
