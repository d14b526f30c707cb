/** The commands of a chat. They are the commands of the program, about this conversation. */
import { forkSession } from '../../../app/fork-session.js';
import { asProblem } from '../../../domain/problem.js';
import type { Call } from '../../args/command.js';

export interface ChatState {
  /** The last task of the conversation with each agent. */
  last: Map<string, string>;
  agent: string;
}

const HELP = [
  ['@agent text', 'talk to another agent'],
  ['/tasks', 'list open tasks'],
  ['/why [task]', 'explain the state of this conversation'],
  ['/cost', 'show what was spent'],
  ['/undo [commit]', 'show what going back would change'],
  ['/fork [text]', 'continue a copy of this conversation'],
  ['/new', 'start a new conversation'],
  ['/exit', 'leave; the work continues'],
] as const;

/** `exit` leaves the chat; a task id is worked on next. */
export async function slash(
  call: Call,
  state: ChatState,
  typed: string,
): Promise<'exit' | { task: string } | undefined> {
  const [word = '', ...words] = typed.slice(1).trim().split(/\s+/);
  const { terminal } = call;
  const last = state.last.get(state.agent);
  const plain = { ...call, values: {} };
  try {
    switch (word) {
      case 'exit':
      case 'quit':
        return 'exit';
      case 'new':
        state.last.delete(state.agent);
        terminal.say(terminal.dim(`a new conversation with ${state.agent}`));
        return undefined;
      case 'tasks':
        await (await import('../task/list.js')).list({ ...plain, words });
        return undefined;
      case 'why':
        if (words.length === 0 && last === undefined) terminal.say('nothing was asked yet');
        else
          await (await import('../why/index.js')).command.run({ ...plain, words: words.length > 0 ? words : [last!] });
        return undefined;
      case 'cost':
        await (await import('../cost.js')).command.run({ ...plain, words });
        return undefined;
      case 'undo':
        await (await import('../undo.js')).command.run({ ...plain, words });
        return undefined;
      case 'fork':
        return await fork(call, state, words.join(' '));
      default:
        for (const [form, about] of HELP) terminal.say(`  ${form.padEnd(16)} ${terminal.dim(about)}`);
        return undefined;
    }
  } catch (error) {
    terminal.problem(asProblem(error));
    return undefined;
  }
}

async function fork(call: Call, state: ChatState, text: string): Promise<{ task: string } | undefined> {
  const last = state.last.get(state.agent);
  if (last === undefined) {
    call.terminal.say('there is no conversation to fork yet');
    return undefined;
  }
  const { task, kept } = await forkSession(call.root, { session: last, text: text === '' ? undefined : text });
  state.last.set(state.agent, task.id);
  call.terminal.say(call.terminal.dim(`forked after ${kept} messages; the original stays as it is`));
  return { task: task.id };
}
