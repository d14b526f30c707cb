/**
 * `guild chat`: one conversation with an agent. Words appear as the model sends them, tools as they
 * run, requests and questions in their place. The person can type while the agent works.
 */
import { spawn } from 'node:child_process';
import { openDesk } from '../../../app/approvals.js';
import type { Workspace } from '../../../app/index.js';
import { followTurns } from '../../../app/live/follow-turns.js';
import { missingKey } from '../../../app/live/model-key.js';
import { asProblem, problem, ProblemError } from '../../../domain/problem.js';
import { isEnded, type Placed, type Task } from '../../../domain/task/task.js';
import { EXIT, type Call, type Command } from '../../args/command.js';
import { unknownAgent } from '../../args/known-agent.js';
import { canAsk } from '../../console/carry-on.js';
import { openKeyboard, type Keyboard } from '../../console/keyboard.js';
import { walk } from '../../console/walk.js';
import { narrator } from '../../render/narrator.js';
import { costText } from '../task/show.js';
import { lastConversation, said } from '../run/continue.js';
import { pastedFiles, placed as placedFile } from './attach.js';
import { openHistory } from './history.js';
import { readInput } from './input.js';
import { slash, type ChatState } from './slash.js';

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
      throw new ProblemError(
        problem('bad_usage', 'guild chat needs a terminal', { hint: 'guild run <agent> <text> works without one' }),
      );
    const now: { id?: string } = {};
    const narration = narrator({ ...call, asks: true }, () => now.id, { docks: false });
    const workspace = await call.open(call.root, { watchers: narration });
    narration.know(workspace);
    const own = (): string => workspace.store.presence.peer.id;
    const live = followTurns(call.root, call.io.env, narration.elsewhere, own);
    const keyboard = openKeyboard(call.io.stdin, call.io.stderr);
    try {
      for (const each of [...workspace.configProblems, ...workspace.check().problems]) call.terminal.problem(each);
      const last = call.values['continue'] === true ? await lastConversation(workspace, call.words[0]) : undefined;
      const agent = call.words[0] ?? last?.task.to ?? firstAgent(workspace);
      if (agent === undefined || !workspace.agents().has(agent))
        throw new ProblemError(unknownAgent(call.root, agent ?? ''));
      const state: ChatState = { agent, last: new Map(last === undefined ? [] : [[agent, last.task.id]]) };
      call.terminal.say(call.terminal.dim(`talking with ${agent}; /help lists commands, Ctrl-D leaves`));
      return await talk({ call, workspace, keyboard, narration, state, now });
    } finally {
      call.terminal.dock([]);
      keyboard.close();
      live.close();
      narration.close();
      await workspace.close();
    }
  },
};

interface Chat {
  call: Call;
  workspace: Workspace;
  keyboard: Keyboard;
  narration: ReturnType<typeof narrator>;
  state: ChatState;
  now: { id?: string };
}

interface Work {
  stop: AbortController;
  /** Resolves when the task has ended or waits. */
  done: Promise<Placed>;
}

function firstAgent(workspace: Workspace): string | undefined {
  const { defaultAgent } = workspace.config;
  const names = [...workspace.agents().keys()].sort();
  return defaultAgent ?? names.find((name) => name === 'planner') ?? names[0];
}

async function talk(chat: Chat): Promise<number> {
  const { call, state, now, narration } = chat;
  const { terminal } = call;
  const history = openHistory(call.root);
  const draft = { text: '' };
  let work: Work | undefined;
  let empties = 0;
  for (;;) {
    const got = await readInput({
      terminal,
      keyboard: chat.keyboard,
      history: history.lines,
      prompt: `${state.agent}> `,
      draft,
      status: () => narration.rows(),
      until: work?.done,
      onPaste: (pasted) =>
        pastedFiles(call.root, pasted)
          ?.map((file) => `${placedFile(call.root, file)} `)
          .join(''),
    });
    if (got === 'work') {
      const placed = await work!.done;
      work = undefined;
      const next = await ended(chat, placed);
      if (next !== undefined) work = start(chat, next);
      continue;
    }
    if (got === 'end') return leave(chat, work);
    if (got === 'interrupt') {
      if (work === undefined && ++empties > 1) return leave(chat, work);
      if (work === undefined) terminal.say(terminal.dim('Ctrl-C again or Ctrl-D leaves'));
      else {
        await stopTurn(chat, work);
        work = undefined;
        terminal.say(terminal.dim('stopped; your next message continues it'));
      }
      continue;
    }
    empties = 0;
    if (got.text.trim() === '') continue;
    history.add(got.text);
    terminal.say(`${terminal.colour('cyan', '›')} ${got.text}`);
    const next = await heard(chat, got.text, work !== undefined);
    if (next === 'exit') return leave(chat, work);
    if (next === undefined || (work !== undefined && next.task === now.id)) continue;
    if (work !== undefined) await stopTurn(chat, work);
    work = start(chat, next.task);
  }
}

/** The task that answers what was typed. */
async function heard(chat: Chat, typed: string, isWorking: boolean): Promise<'exit' | { task: string } | undefined> {
  const { call, workspace, state } = chat;
  if (typed.startsWith('/')) return slash(call, state, typed);
  const [, named, rest] = /^@([\w.-]+)\s*([^]*)$/.exec(typed) ?? [];
  if (named !== undefined) {
    if (!workspace.agents().has(named)) {
      call.terminal.problem(unknownAgent(call.root, named));
      return undefined;
    }
    state.agent = named;
  }
  const text = named === undefined ? typed : rest!;
  if (text.trim() === '') return undefined;
  try {
    const last = state.last.get(state.agent);
    const before = last === undefined ? undefined : await workspace.task(last);
    const keyProblem = missingKey(workspace.agents().get(state.agent)!, workspace, call.io.env);
    if (keyProblem) throw new ProblemError(keyProblem);
    const task =
      before === undefined
        ? (await workspace.add({ description: text, to: state.agent })).id
        : await said({ ...call, quiet: true, terminal: silent(call) }, workspace, before, text);
    state.last.set(state.agent, task);
    if (isWorking && task === last)
      call.terminal.say(call.terminal.dim(`${state.agent} reads it before its next turn`));
    return { task };
  } catch (error) {
    call.terminal.problem(asProblem(error));
    return undefined;
  }
}

function silent(call: Call): Call['terminal'] {
  return { ...call.terminal, say: () => undefined, width: call.terminal.width, height: call.terminal.height };
}

function start({ workspace, now }: Chat, id: string): Work {
  now.id = id;
  const stop = new AbortController();
  const done = workspace.finish(id, stop.signal);
  done.catch(() => undefined);
  return { stop, done };
}

async function stopTurn({ workspace }: Chat, { stop, done }: Work): Promise<void> {
  stop.abort();
  for (const flight of workspace.engine.flights.values()) flight.stop.abort();
  await done.catch(() => undefined);
}

/** The task to work on next: released by an answer, or by a message that came too late. */
async function ended(chat: Chat, { task, state }: Placed): Promise<string | undefined> {
  const { call, narration, keyboard } = chat;
  const { terminal } = call;
  terminal.endStream();
  if (isEnded(state)) {
    if (state === 'failed') terminal.problem(task.error ?? problem('bug', 'it failed without a reason'));
    else if (!narration.hasShown(task.result ?? '')) terminal.out(task.result ?? '');
    if (task.usage) terminal.say(terminal.dim(costText(task.usage)));
    return unheard(chat, task);
  }
  const desk = await openDesk(call.root, call.io.env);
  try {
    const asking = { io: call.io, terminal, keyboard };
    const { answered, left } = await walk(desk, asking, (request) => request.root === task.root);
    if (answered.length > 0 && !left) return task.id;
    terminal.say(terminal.dim('it waits for you; guild inbox shows everything that waits'));
    return undefined;
  } finally {
    await desk.close();
  }
}

/** Messages that the agent did not read before it ended start the next turn. */
async function unheard({ workspace, state }: Chat, task: Task): Promise<string | undefined> {
  const { intents } = workspace.store;
  const late = (await intents.list()).flatMap((intent) =>
    intent.kind === 'tell' && intent.task === task.id ? [intent] : [],
  );
  if (late.length === 0) return undefined;
  const next = await workspace.followUp(task.id, late.map(({ text }) => text).join('\n\n'));
  for (const { id } of late) await intents.done(id);
  state.last.set(state.agent, next.id);
  return next.id;
}

/** The task continues in another process, or in a new one if none is running. */
async function leave(chat: Chat, work: Work | undefined): Promise<number> {
  const { call, workspace, state } = chat;
  if (work === undefined) return EXIT.done;
  await stopTurn(chat, work);
  const id = state.last.get(state.agent)!;
  const others = (await workspace.peers()).filter((peer) => peer.id !== workspace.store.presence.peer.id);
  if (others.length === 0) {
    const args = [process.argv[1]!, 'run', '-c', id, '--quiet', '--workspace', call.root];
    spawn(process.execPath, args, { detached: true, stdio: 'ignore', env: call.io.env }).unref();
  }
  call.terminal.say(`${id} continues ${others.length > 0 ? 'in the running guild' : 'in the background'}`);
  return EXIT.done;
}
