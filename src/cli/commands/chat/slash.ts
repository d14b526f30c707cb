/** The commands of a chat. They are the commands of the program, applied to this conversation. */
import { nearestHint } from '../../../domain/nearest.js';
import { asProblem, problemError } from '../../../domain/problem.js';
import { commitBefore, undoTo } from '../../../app/undo.js';
import { askText } from '../../console/prompt.js';
import { lastConversation } from '../run/continue.js';
import { showUndone } from '../undo.js';
import { greet } from './greet.js';
import type { Chat } from './turns.js';

const HELP = [
  ['@agent text', 'talk to another agent'],
  ['/tasks', 'list open tasks'],
  ['/why [task]', 'explain the state of this conversation'],
  ['/cost', 'show what was spent'],
  ['/undo [commit]', 'go back to before the last turn, or to this commit; shows the changes and asks'],
  ['/fork [text]', 'continue a copy of this conversation'],
  ['/new', 'start a new conversation'],
  ['/help', 'show this list'],
  ['/exit', 'leave; the work continues'],
] as const;

/** A path such as /etc/hosts is text. */
export function isSlash(typed: string): boolean {
  return /^\/[a-z?]*(?:\s|$)/i.test(typed);
}

export async function slash(chat: Chat, typed: string): Promise<'exit' | undefined> {
  const [word = '', ...words] = typed.slice(1).trim().split(/\s+/);
  const { call } = chat;
  const { terminal } = call;
  const last = chat.last.get(chat.agent);
  const plain = { ...call, values: {} };
  try {
    switch (word) {
      case 'exit':
      case 'quit':
        return 'exit';
      case 'new':
        chat.last.delete(chat.agent);
        terminal.say(terminal.dim(`a new conversation with ${chat.agent}`));
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
        await undo(chat, words[0]);
        return undefined;
      case 'fork':
        if (marksFork(chat))
          terminal.say(
            terminal.dim(`your next message to ${chat.agent} continues a copy; the original stays as it is`),
          );
        return undefined;
      case '':
      case '?':
      case 'help':
        for (const [form, about] of HELP) terminal.say(`  ${form.padEnd(16)} ${terminal.dim(about)}`);
        return undefined;
      default: {
        const names = HELP.flatMap(([form]) => /^\/\w+/.exec(form)?.[0] ?? []);
        throw problemError('bad_usage', `there is no /${word}`, {
          hint: nearestHint(`/${word}`, names, '/help lists the commands')!,
        });
      }
    }
  } catch (error) {
    terminal.problem(asProblem(error));
    return undefined;
  }
}

/** The next message to this agent goes to a copy. False if there is nothing to copy. */
export function marksFork({ agent, call, forks, last }: Chat): boolean {
  if (last.has(agent)) forks.add(agent);
  else call.terminal.say('there is no conversation to fork yet');
  return last.has(agent);
}

/** This process leaves the workspace meanwhile: nobody may work in it while it is restored. */
async function undo(chat: Chat, named: string | undefined): Promise<void> {
  const { call, keyboard, works } = chat;
  const { terminal, root, io } = call;
  if (works.size > 0) throw problemError('bad_usage', 'an agent is working', { hint: 'stop it with Ctrl-C first' });
  const last = chat.last.get(chat.agent);
  await chat.workspace.close();
  try {
    const to = named ?? (last && (await commitBefore(root, last, io.env))) ?? 'HEAD~1';
    const preview = await undoTo(root, to, io.env);
    showUndone(terminal, preview);
    if (preview.files.length === 0) return terminal.say('nothing would change');
    // An answer in the same paste as the command was given before the changes were shown.
    keyboard.drop();
    const answer = await askText(terminal, keyboard, { prompt: 'Go back? y/N ' });
    terminal.dock([]);
    if (typeof answer !== 'object' || !/^y(es)?$/i.test(answer.text.trim())) return terminal.say('nothing has changed');
    const { commit } = await undoTo(root, preview.to.id, io.env, { really: true });
    terminal.say(`done, as commit ${commit!.slice(0, 10)}; /undo ${commit!.slice(0, 10)}~1 takes it back`);
  } finally {
    chat.workspace = await chat.open();
    await afterUndo(chat);
  }
}

/** The conversation may be shorter now, or may not exist any more. */
async function afterUndo(chat: Chat): Promise<void> {
  for (const [agent, id] of chat.last) if ((await chat.workspace.task(id)) === undefined) chat.last.delete(agent);
  const last = chat.last.has(chat.agent) ? undefined : await lastConversation(chat.workspace, chat.agent);
  if (last !== undefined) await greet(chat, last);
}
