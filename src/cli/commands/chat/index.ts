/**
 * `guild chat`: one conversation with an agent. Words appear as the model sends them, tools as they
 * run, requests and questions in their place. The person can type while the agent works.
 */
import type { Workspace } from '../../../app/index.js';
import { followTurns } from '../../../app/live/follow-turns.js';
import { missingKey } from '../../../app/live/model-key.js';
import { forkSession } from '../../../app/fork-session.js';
import { asProblem, ProblemError, problemError } from '../../../domain/problem.js';
import { isEnded, type Placed } from '../../../domain/task/task.js';
import type { Call, Command } from '../../args/command.js';
import { unknownAgent } from '../../args/known-agent.js';
import { canAsk } from '../../console/carry-on.js';
import { openKeyboard } from '../../console/keyboard.js';
import { narrator } from '../../render/narrator.js';
import { lastConversation, sendMessage } from '../run/continue.js';
import { pastedFiles, placed as placedFile, unseenMedia } from './attach.js';
import { greet } from './greet.js';
import { openHistory } from './history.js';
import { readInput } from './input.js';
import { isSlash, marksFork, slash } from './slash.js';
import { ended, leave, start, stopTurns, type Chat } from './turns.js';

export const command: Command = {
  usage: 'chat [agent]',
  about: `
Talks with an agent. Enter sends, Alt-Enter or Ctrl-J starts a new line, the arrow keys bring back what you typed before.
Paste the path of a file, or drop the file onto the terminal, to give it to the agent. @agent at the start talks to another
agent; /help lists the commands of the chat.

You can type while the agent works: it reads your message before its next turn. Ctrl-C stops the turn and keeps the task.
Ctrl-D leaves, and the task continues. guild chat -c continues the last conversation.`,
  options: { continue: { type: 'boolean', short: 'c', about: 'continue the last conversation' } },
  maxWords: 1,
  async run(call) {
    if (!canAsk(call))
      throw problemError('bad_usage', 'guild chat needs a terminal', {
        hint: 'guild run <agent> <text> works without one',
      });
    const now: { id?: string } = {};
    const narration = narrator({ ...call, asks: true }, () => now.id, { docks: false });
    const open = async (): Promise<Workspace> => {
      const opened = await call.open(call.root, { watchers: narration });
      narration.know(opened);
      return opened;
    };
    const keyboard = openKeyboard(call.io.stdin, call.io.stderr);
    const chat: Chat = {
      ...{ call, keyboard, narration, now, open, workspace: await open() },
      ...{ agent: '', last: new Map(), works: new Map(), stopped: new Set(), forks: new Set(), pasted: new Set() },
    };
    const own = (): string => chat.workspace.store.presence.peer.id;
    const live = followTurns(call.root, call.io.env, narration.elsewhere, own);
    try {
      const { workspace } = chat;
      for (const each of [...workspace.configProblems, ...workspace.check().problems]) call.terminal.problem(each);
      const last = call.values['continue'] === true ? await lastConversation(workspace, call.words[0]) : undefined;
      const agent = call.words[0] ?? last?.task.to ?? firstAgent(workspace);
      if (agent === undefined || !workspace.agents().has(agent))
        throw new ProblemError(unknownAgent(call.root, agent ?? ''));
      chat.agent = agent;
      call.terminal.say(call.terminal.dim(`talking with ${agent}; /help lists commands, Ctrl-D leaves`));
      if (last !== undefined) await greet(chat, last);
      else if (call.values['continue'] === true) call.terminal.say('there is no conversation to continue yet');
      return await talk(chat);
    } finally {
      call.terminal.dock([]);
      keyboard.close();
      live.close();
      narration.close();
      await chat.workspace.close();
    }
  },
};

function firstAgent(workspace: Workspace): string | undefined {
  const { defaultAgent } = workspace.config;
  const names = [...workspace.agents().keys()].sort();
  return defaultAgent ?? names.find((name) => name === 'planner') ?? names[0];
}

async function talk(chat: Chat): Promise<number> {
  const { call, works, narration } = chat;
  const { terminal } = call;
  const history = openHistory(call.root);
  const draft = { text: '' };
  let empties = 0;
  for (;;) {
    const got = await readInput({
      terminal,
      keyboard: chat.keyboard,
      history: history.lines,
      prompt: `${chat.agent}> `,
      draft,
      status: () => (works.size === 0 ? [] : narration.rows()),
      until: works.size === 0 ? undefined : Promise.race([...works.values()].map(({ done }) => done)),
      onPaste(pasted) {
        const files = pastedFiles(call.root, pasted)?.map((file) => placedFile(call.root, file));
        for (const file of files ?? []) chat.pasted.add(file);
        return files?.map((file) => `${file} `).join('');
      },
    });
    if (got === 'work') await lookAtEnded(chat);
    else if (got === 'end') return leave(chat);
    else if (got === 'interrupt' && works.size > 0) await stopTurns(chat);
    else if (got === 'interrupt') {
      if (++empties > 1) return leave(chat);
      terminal.say(terminal.dim('Ctrl-C again or Ctrl-D leaves'));
    } else {
      empties = 0;
      if (got.text.trim() === '') {
        await continueStopped(chat);
        continue;
      }
      history.add(got.text);
      terminal.say(`${terminal.colour('cyan', '›')} ${got.text.replaceAll('\n', '\n  ')}`);
      const next = await submitted(chat, got.text);
      if (next === 'exit') return leave(chat);
      if (next !== undefined && !works.has(next.task)) start(chat, next.task);
    }
  }
}

async function lookAtEnded(chat: Chat): Promise<void> {
  for (const [id, work] of chat.works) {
    if (!work.isDone) continue;
    chat.works.delete(id);
    const next = await ended(chat, await work.done);
    if (next !== undefined) start(chat, next);
  }
}

/** Enter alone continues a turn that was stopped. */
async function continueStopped(chat: Chat): Promise<void> {
  const id = chat.last.get(chat.agent);
  const placed = id === undefined || chat.works.has(id) ? undefined : await chat.workspace.task(id);
  if (placed === undefined || isEnded(placed.state)) return;
  start(chat, await sendMessage(silent(chat.call), chat.workspace, placed, ''));
}

async function submitted(chat: Chat, typed: string): Promise<'exit' | { task: string } | undefined> {
  const { call, workspace } = chat;
  const [, copied] = /^\/fork\s+(\S[^]*)$/.exec(typed) ?? [];
  if (copied === undefined && isSlash(typed)) return slash(chat, typed);
  const [, named, rest] = /^@([\w.-]+)\s*([^]*)$/.exec(copied ?? typed) ?? [];
  if (named !== undefined) {
    if (!workspace.agents().has(named)) {
      call.terminal.problem(unknownAgent(call.root, named));
      return undefined;
    }
    chat.agent = named;
  }
  const text = named === undefined ? (copied ?? typed) : rest!;
  if (copied !== undefined && !marksFork(chat)) return undefined;
  if (text.trim() === '') return undefined;
  try {
    const last = chat.last.get(chat.agent);
    const task = await nextTask(chat, last, text);
    chat.last.set(chat.agent, task);
    if (chat.works.has(task)) call.terminal.say(call.terminal.dim(`${chat.agent} reads it before its next turn`));
    return { task };
  } catch (error) {
    call.terminal.problem(asProblem(error));
    return undefined;
  }
}

async function nextTask(chat: Chat, last: string | undefined, text: string): Promise<string> {
  const { call, workspace, agent, forks } = chat;
  const keyProblem = missingKey(workspace.agents().get(agent)!, workspace, call.io.env);
  if (keyProblem) throw new ProblemError(keyProblem);
  const before = last === undefined ? undefined : await workspace.task(last);
  const attachments = await attachedFiles(chat, before, text);
  if (before === undefined) return (await workspace.add({ description: text, to: agent, attachments })).id;
  if (!forks.delete(agent)) return sendMessage(silent(call), workspace, before, text, attachments);
  const { task, kept } = await forkSession(call.root, { session: before.task.id, text, attachments });
  call.terminal.say(call.terminal.dim(`forked after ${kept} messages; the original stays as it is`));
  return task.id;
}

/** The pasted files that the message names. A task that is under way gets only their paths. */
async function attachedFiles(
  { call, workspace, agent, forks, pasted }: Chat,
  before: Placed | undefined,
  text: string,
): Promise<string[] | undefined> {
  const files = [...pasted].filter((file) => text.includes(file));
  pasted.clear();
  if (files.length === 0) return undefined;
  if (before !== undefined && !isEnded(before.state) && !forks.has(agent)) {
    call.terminal.say(call.terminal.dim(`${agent} has not ended its turn, so it gets the path and not the file`));
    return undefined;
  }
  for (const note of unseenMedia(workspace, agent, files)) call.terminal.say(call.terminal.dim(note));
  return files;
}

function silent(call: Call): Call {
  const { terminal } = call;
  return {
    ...call,
    quiet: true,
    terminal: { ...terminal, say: () => undefined, width: terminal.width, height: terminal.height },
  };
}
