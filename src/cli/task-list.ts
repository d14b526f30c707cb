/** `guild task list`. Reads the folders and nothing else, so that it starts at once. */
import { TASK_STATES, type Placed, type TaskState } from '../domain/task.js';
import { openLook } from '../app/open-look.js';
import { taskRecord } from '../app/task-record.js';
import { compareText } from '../domain/order.js';
import { ProblemError, problem, type Problem } from '../domain/problem.js';
import { gist } from '../rules/gist.js';
import { EXIT, text, whole, type Call } from './command.js';
import { table, type Terminal } from './terminal.js';

export async function list(call: Call): Promise<number> {
  const { values, terminal, json } = call;
  const state = text(values, 'state');
  if (state !== undefined && !(TASK_STATES as readonly string[]).includes(state)) {
    throw new ProblemError(
      problem('bad_usage', `there is no state ${JSON.stringify(state)}`, {
        hint: `the states are ${TASK_STATES.join(', ')}`,
      }),
    );
  }
  const given = whole(values, 'limit', [1, Infinity]);
  // For programs nothing is left out unless they ask for it.
  const limit = given ?? (json ? Infinity : 50);
  const reader = openLook(call.root);
  const { problems, strays = [] } = await reader.scan(true);
  if (problems.length > 0) {
    const { noteSetAside, openReader } = await import('../app/open-reader.js');
    await noteSetAside(openReader(call.root), problems);
  }
  const endedState = state === 'completed' || state === 'failed' ? state : undefined;
  const wantsEnded = endedState !== undefined || (values['all'] === true && state === undefined);
  const found: Placed[] = [...reader.open()]
    .filter((one) => state === undefined || one.state === state)
    .sort((a, b) => compareText(a.task.created_at, b.task.created_at));
  // One more than is shown, to know whether there are more; how many is not counted, because it would cost a look at each.
  const passedOver: Problem[] = [];
  if (wantsEnded) {
    const ended = { limit: limit + 1, passedOver: (one: Problem) => void passedOver.push(one) };
    found.push(...(await reader.ended(endedState === undefined ? ended : { ...ended, state: endedState })));
  }
  const shown = found.slice(0, limit);
  if (json) terminal.json(shown.map(taskRecord));
  else for (const line of lines(shown, terminal)) terminal.out(line);
  for (const one of [...problems, ...strays, ...passedOver]) terminal.problem(one);
  if (!json && found.length > shown.length)
    terminal.say(terminal.dim(`… and ${wantsEnded ? '' : `${found.length - shown.length} `}more (--limit)`));
  if (!json && found.length === 0) terminal.say(terminal.dim(nothing(state, wantsEnded)));
  return EXIT.done;
}

function nothing(state: string | undefined, wantsEnded: boolean): string {
  if (state !== undefined) return `no ${state} tasks`;
  return wantsEnded ? 'no tasks' : 'no open tasks (--all shows ended ones)';
}

function lines(found: Placed[], terminal: Terminal): string[] {
  const rows = found.map(({ task, state }) => [
    mark(state, terminal),
    task.id,
    task.to ? `@${task.to}` : '',
    gist(task),
  ]);
  return table(rows, terminal.width);
}

export function mark(state: TaskState, terminal: Terminal): string {
  const colours = { pending: 'cyan', active: 'yellow', waiting: 'magenta', completed: 'green', failed: 'red' } as const;
  return terminal.colour(colours[state], state);
}
