/** `guild run`: creates a task, works on it until it ends, and streams the answer. */
import type { Workspace } from '../../app/index.js';
import { taskRecord } from '../../app/readers/task-record.js';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';
import { resolveModels } from '../../rules/scheduling/models.js';
import { isEnded } from '../../domain/task/task.js';
import { EXIT, text, type Command } from '../args/command.js';
import { unknownAgent } from '../args/known-agent.js';
import { narrator } from '../render/narrator.js';
import { costText } from './task/show.js';
import { untilInterrupt } from '../process/interrupt.js';

export const command: Command = {
  usage: 'run <agent> <text>',
  about: `
Creates a task for the agent, works on it and on every task under it until it ends, and prints the answer. Use - as the
text to read it from standard input:

  echo "What is in this folder?" | guild run planner -`,
  options: {
    id: { type: 'string', value: 'ID', about: 'id of the task (default: generated)' },
    model: { type: 'string', value: 'NAME', about: 'model or alias for all agents of this run' },
  },
  async run(call) {
    const [agent, ...words] = call.words;
    const request = words.join(' ');
    if (agent === undefined)
      throw new ProblemError(
        problem('bad_usage', 'guild run needs an agent and a text', { hint: 'guild agent list shows the agents' }),
      );
    const description =
      request === '-' || (request === '' && !call.io.stdin.isTTY) ? await readAll(call.io.stdin) : request;
    const mine: { id?: string } = {};
    const narration = narrator(call, () => mine.id);
    const model = text(call.values, 'model');
    const workspace = await call.open(call.root, {
      watchers: narration,
      modelName: model,
    });
    if (!workspace.agents().has(agent)) throw new ProblemError(unknownAgent(call.root, agent));
    for (const each of [...workspace.configProblems, ...workspace.check().problems]) call.terminal.problem(each);
    const modelProblem = model === undefined ? undefined : unknownModel(workspace, agent, model);
    if (modelProblem) throw new ProblemError(modelProblem);
    const task = await workspace.add({ description, to: agent, id: text(call.values, 'id') });
    mine.id = task.id;
    try {
      const { task: ended, state } = await untilInterrupt(call.io, workspace, (signal) =>
        workspace.finish(task.id, signal),
      );
      narration.close();
      if (call.json) call.terminal.json(taskRecord({ task: ended, state }));
      if (state === 'failed') {
        if (!call.json) call.terminal.problem(ended.error ?? problem('bug', 'it failed without a reason'));
        return ended.error?.code === 'not_allowed' ? EXIT.refused : EXIT.problem;
      }
      if (!isEnded(state)) {
        call.terminal.say(`${task.id} is ${state}; guild why ${task.id} explains why`);
        return EXIT.waiting;
      }
      // An answer of another agent or of a tool has not been streamed.
      const answer = ended.result ?? '';
      if (!call.json && (call.quiet || !narration.hasShown(answer))) call.terminal.out(answer);
      call.terminal.say(
        call.terminal.dim(`\n${task.id}: ${ended.usage ? costText(ended.usage) : ''} · results/${task.id}.md`),
      );
      return EXIT.done;
    } finally {
      await workspace.close();
    }
  },
};

/** A mistyped --model is reported before a task is created. */
function unknownModel(workspace: Workspace, agent: string, model: string): Problem | undefined {
  const resolved = resolveModels({ ...workspace.agents().get(agent)!, models: [model] }, workspace.config);
  if (!('code' in resolved)) return undefined;
  const { where: _, ...rest } = resolved;
  return { ...rest, message: `--model: ${rest.message}` };
}

async function readAll(stream: AsyncIterable<Buffer | string>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk.toString();
  return text.trim();
}
