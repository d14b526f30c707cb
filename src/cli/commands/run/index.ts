/**
 * `guild run`: creates a task, works on it until it ends, and streams the answer. On a terminal it
 * shows the requests of the task. `--continue` continues a conversation.
 */
import type { Workspace } from '../../../app/index.js';
import { followTurns } from '../../../app/live/follow-turns.js';
import { taskRecord } from '../../../app/readers/task-record.js';
import { missingKey } from '../../../app/live/model-key.js';
import { problem, type Problem, ProblemError, problemError } from '../../../domain/problem.js';
import { resolveModels } from '../../../rules/scheduling/models.js';
import { isEnded, type Placed, type Task } from '../../../domain/task/task.js';
import { attached } from '../../args/attached.js';
import { EXIT, text, type Call, type Command } from '../../args/command.js';
import { unknownAgent } from '../../args/known-agent.js';
import { canAsk, carryOn } from '../../console/carry-on.js';
import { readAll } from '../../process/read-all.js';
import { wrappedLines } from '../../render/layout.js';
import { narrator, type RunNarrator } from '../../render/narrator.js';
import { costText } from '../task/show.js';
import { conversationMeant, sendMessage } from './continue.js';
import { keepOrCancel, untilStopped } from './stop.js';

export const command: Command = {
  usage: [
    ['run <agent> <text>', 'give an agent a task and print its answer'],
    ['run -c [task] [text]', 'continue the last conversation, or the one of this task'],
  ],
  about: `
Creates a task for the agent, works on it and on every task under it until it ends, and prints the answer. On a terminal
you are shown the requests and questions of these tasks as they come up. Use - as the text to read it from standard input:

  echo "What is in this folder?" | guild run planner -

With --continue the text is the next message of the conversation. A task that was stopped continues where it stopped.

Ctrl-C stops the work and asks whether to keep the task; a second Ctrl-C cancels it. A kept task does not run again until
guild run -c or guild task retry.`,
  options: {
    continue: { type: 'boolean', short: 'c', about: 'continue a conversation, or a task that was stopped' },
    attach: { type: 'string', multiple: true, value: 'FILE,…', about: 'files of the workspace that the agent gets' },
    id: { type: 'string', value: 'ID', about: 'id of the task (default: generated)' },
    model: { type: 'string', value: 'NAME', about: 'model or alias for all agents of this run' },
  },
  async run(call) {
    const isContinued = call.values['continue'] === true;
    const mine: { id?: string } = {};
    const narration = narrator({ ...call, asks: canAsk(call) }, () => mine.id);
    const model = text(call.values, 'model');
    const [agent, ...words] = call.words;
    if (agent === undefined && !isContinued)
      throw problemError('bad_usage', 'guild run needs an agent and a text', {
        hint: 'guild agent list shows the agents',
      });
    const description = isContinued ? '' : await described(call, words);
    const workspace = await call.open(call.root, { watchers: narration, modelName: model });
    narration.know(workspace);
    const own = (): string => workspace.store.presence.peer.id;
    const live = call.terminal.live ? followTurns(call.root, call.io.env, narration.elsewhere, own) : undefined;
    try {
      for (const each of [...workspace.configProblems, ...workspace.check().problems]) call.terminal.problem(each);
      const id = isContinued
        ? await continued(call, workspace)
        : (await created(call, workspace, agent!, description, model)).id;
      mine.id = id;
      return await work(call, workspace, narration, id);
    } finally {
      live?.close();
      narration.close();
      await workspace.close();
    }
  },
};

async function described({ io }: Call, words: string[]): Promise<string> {
  const request = words.join(' ');
  return request === '-' || (request === '' && !io.stdin.isTTY) ? readAll(io.stdin) : request;
}

async function created(
  call: Call,
  workspace: Workspace,
  agent: string,
  description: string,
  model: string | undefined,
): Promise<Task> {
  if (!workspace.agents().has(agent)) throw new ProblemError(unknownAgent(call.root, agent));
  const modelProblem = model === undefined ? undefined : unknownModel(workspace, agent, model);
  if (modelProblem) throw new ProblemError(modelProblem);
  const named = workspace.agents().get(agent)!;
  const models = model === undefined ? named.models : [model];
  const keyProblem = missingKey({ ...named, models }, workspace, call.io.env);
  if (keyProblem) throw new ProblemError(keyProblem);
  return workspace.add({ description, to: agent, id: text(call.values, 'id'), attachments: attached(call) });
}

/** The task to work on: a new one in the same conversation, or the open one. */
async function continued(call: Call, workspace: Workspace): Promise<string> {
  const { placed, words } = await conversationMeant(call, workspace);
  const message = await described(call, words);
  return sendMessage(call, workspace, placed, message, attached(call));
}

async function work(call: Call, workspace: Workspace, narration: RunNarrator, id: string): Promise<number> {
  const { placed, isStopped } = await untilStopped(call, workspace, id, (signal) =>
    carryOn(call, workspace, narration, id, signal),
  );
  narration.close();
  if (isStopped) return keepOrCancel(call, workspace, placed);
  return report(call, workspace, narration, placed);
}

function report(call: Call, workspace: Workspace, narration: RunNarrator, { task, state }: Placed): number {
  if (call.json) call.terminal.json(taskRecord({ task, state }));
  if (state === 'failed') {
    if (!call.json) call.terminal.problem(task.error ?? problem('bug', 'it failed without a reason'));
    const model = text(call.values, 'model');
    if (model !== undefined)
      call.terminal.say(
        `a retry uses the models of the files; for ${model}: guild run -c ${task.id} --model ${model} "Go on"`,
      );
    return task.error?.code === 'not_allowed' ? EXIT.refused : EXIT.problem;
  }
  if (!isEnded(state)) {
    const why = workspace.held.get(task.to ?? '');
    call.terminal.say(
      why === undefined
        ? `${task.id} is ${state}; guild why ${task.id} explains why, guild run -c continues it`
        : `${task.id} waits, and ${task.to} does not work on it yet: ${why}`,
    );
    return EXIT.waiting;
  }
  // The answer of another agent or of a tool was not streamed.
  const answer = task.result ?? '';
  if (!call.json && (call.quiet || !narration.hasShown(answer)))
    for (const line of wrappedLines(answer, call.terminal.width)) call.terminal.out(line);
  const cost = task.usage ? `${costText(task.usage)} · ` : '';
  call.terminal.say(call.terminal.dim(`\n${task.id}: ${cost}results/${task.id}.md`));
  return EXIT.done;
}

/** A mistyped --model is reported before a task is created. */
function unknownModel(workspace: Workspace, agent: string, model: string): Problem | undefined {
  const resolved = resolveModels({ ...workspace.agents().get(agent)!, models: [model] }, workspace.config);
  if (!('code' in resolved)) return undefined;
  const { where: _, ...rest } = resolved;
  return { ...rest, message: `--model: ${rest.message}` };
}
