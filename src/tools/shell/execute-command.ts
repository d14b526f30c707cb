/**
 * Runs a command in the agent's own folder. Whether it may run was decided before: what needs no human comes with its words as they
 * were judged and no shell reads the line again; what a person allowed, this once or as a whole line in the allowlist,
 * is Bash text.
 */
import type { ShellOutcome } from '../../ports/shell.js';
import type { Tool, ToolReply } from '../core/tool.js';

const DEFAULT_SECONDS = 60;
const MAX_SECONDS = 600;
/** More than a conversation holds: the whole is kept apart and quoted. */
const MAX_OUTPUT_BYTES = 256 * 1024;

export const executeCommand: Tool = {
  name: 'execute_command',
  kind: 'effect',
  description:
    'Runs a command line as Bash would, in your own folder (workspaces/<your name>/). Plain reading commands such as ls, cat, grep, find or git log run at once; anything else waits for a human. There is no input and no terminal.',
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command line' },
      timeout_s: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_SECONDS,
        description: `Seconds after which it is ended; ${DEFAULT_SECONDS} if left out`,
      },
      network: { type: 'boolean', description: 'true if it needs the network; a human is then always asked' },
    },
    required: ['command'],
    additionalProperties: false,
  },
  async run(args, context) {
    const { shell, plan, action, agent, task, signal } = context;
    const command = args['command'] as string;
    if (command.trim() === '')
      return { kind: 'problem', code: 'bad_field', message: 'command is empty; say what to run' };
    const seconds = (args['timeout_s'] as number | undefined) ?? DEFAULT_SECONDS;
    const outcome = await shell.run({
      agent: agent.name,
      what: action ? { action } : plan ? { plan } : { script: command },
      task: task.id,
      command,
      timeoutMs: seconds * 1000,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      network: args['network'] === true,
      ...(signal ? { signal } : {}),
    });
    return replyOf(outcome, seconds);
  },
};

/** A command that fails has still run: its exit code and output are the result. Only what was ended from outside is a problem. */
function replyOf(outcome: ShellOutcome, seconds: number): ToolReply {
  if (outcome.kind === 'not_started')
    return { kind: 'problem', code: 'tool_failed', message: `it was not started: ${outcome.reason}` };
  const note = outcome.note === undefined ? '' : `\n[${outcome.note}]`;
  const said = (outcome.output === '' ? '(no output)' : outcome.output.replace(/\n$/, '')) + note;
  if (outcome.kind === 'exited') {
    const failed = outcome.code === 0 ? '' : ' (it failed)';
    return { kind: 'text', text: `exit code ${outcome.code}${failed}\n${said}` };
  }
  const so = `everything it had started was ended, and what it did until then stays. Its output until then:\n${said}`;
  switch (outcome.by) {
    case 'time-out':
      return { kind: 'problem', code: 'timed_out', message: `it ran longer than ${seconds} s; ${so}` };
    case 'cancel':
      return { kind: 'problem', code: 'cancelled', message: `it was cancelled; ${so}` };
    case 'output':
      return { kind: 'problem', code: 'over_limit', message: `it wrote far too much output; ${so}` };
    case 'signal':
      return { kind: 'problem', code: 'tool_failed', message: `it was ended from outside; ${so}` };
  }
}
