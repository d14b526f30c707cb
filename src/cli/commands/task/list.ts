/** `guild task list`. It reads only the folders of the tasks, so it starts quickly. */
import { TASK_STATES, type Placed, type TaskState } from '../../../domain/task/task.js';
import { lookAt } from '../../../app/readers/open-look.js';
import { taskRecord } from '../../../app/readers/task-record.js';
import { compareText } from '../../../domain/order.js';
import { type Problem, problemError } from '../../../domain/problem.js';
import { isRequest } from '../../../views/own-words.js';
import { summaryOrFailure } from '../../../views/summary.js';
import { toText } from '../../../views/who.js';
import { EXIT, text, integerOption, type Call } from '../../args/command.js';
import { columnsOf } from '../../render/columns.js';
import { fitted, table } from '../../render/layout.js';
import type { Terminal } from '../../render/terminal.js';

export async function list(call: Call): Promise<number> {
  const { values, terminal, json } = call;
  const state = text(values, 'state');
  if (state !== undefined && !(TASK_STATES as readonly string[]).includes(state)) {
    throw problemError('bad_usage', `there is no state ${JSON.stringify(state)}`, {
      hint: `the states are ${TASK_STATES.join(', ')}`,
    });
  }
  const chosenLimit = integerOption(values, 'limit', [1, Infinity]);
  // Programs get all tasks unless they set a limit.
  const limit = chosenLimit ?? (json ? Infinity : 50);
  const { problems, unread, strays, open, ended } = await lookAt(call.root, limit);
  if (problems.length > 0) {
    const { recordQuarantined, openReader } = await import('../../../app/readers/open-reader.js');
    await recordQuarantined(openReader(call.root), problems);
  }
  const endedState = state === 'completed' || state === 'failed' ? state : undefined;
  const wantsEnded = endedState !== undefined || (values['all'] === true && state === undefined);
  const tasks: Placed[] = [...open()]
    .filter((placed) => state === undefined || placed.state === state)
    .sort((a, b) => compareText(a.task.created_at, b.task.created_at));
  // One more than is shown, to know whether there are more. Counting them would mean reading each.
  const skipped: Problem[] = [];
  if (wantsEnded && ended !== undefined) {
    tasks.push(...(await ended({ state: endedState, limit: limit + 1 })));
  } else if (wantsEnded) {
    const { openTaskIndex } = await import('../../../app/readers/aggregates/open-index.js');
    let count = 0;
    for (const each of openTaskIndex(call.root).newest(endedState)) {
      if ('code' in each) skipped.push(each);
      else if (tasks.push(each) && ++count > limit) break;
    }
  }
  const shown = await inOwnWordsHere(tasks.slice(0, limit), call, ended !== undefined);
  if (json) terminal.json(shown.map(taskRecord));
  else for (const line of lines(shown, terminal)) terminal.out(line);
  for (const each of [...problems, ...strays, ...skipped]) terminal.problem(each);
  const others = state === undefined || state === 'pending' ? unread : 0;
  const more = tasks.length - shown.length + others;
  if (!json && more > 0) terminal.say(terminal.dim(`… and ${wantsEnded ? '' : `${more} `}more (--limit)`));
  if (!json && tasks.length === 0) terminal.say(terminal.dim(nothing(state, wantsEnded)));
  return EXIT.done;
}

/** Most lists have no request, and need no key. */
async function inOwnWordsHere(tasks: Placed[], { root, io }: Call, isFar: boolean): Promise<Placed[]> {
  const hasRequest = tasks.some(({ task }) => isRequest(task));
  if (!hasRequest) return tasks;
  const { wordsAt } = await import('../../../app/approvals.js');
  return tasks.map(wordsAt(root, io.env)(isFar));
}

function nothing(state: string | undefined, wantsEnded: boolean): string {
  if (state !== undefined) return `no ${state} tasks`;
  return wantsEnded ? 'no tasks' : 'no open tasks (--all shows ended ones)';
}

/** Ids are never cut: after a long one, the rest of the row is on the next line. */
function lines(tasks: Placed[], terminal: Terminal): string[] {
  const room = terminal.width - STATE_COLUMNS - BESIDE_COLUMNS;
  const isLong = ({ task }: Placed): boolean => columnsOf(task.id) > room;
  const about = ({ task }: Placed): string[] => [task.to ? toText(task.to) : '', summaryOrFailure(task)];
  if (tasks.filter(isLong).length > tasks.length / 2)
    return tasks.flatMap((placed) => {
      const rest = [mark(placed.state, terminal), ...about(placed)].filter(Boolean).join(' ');
      return [placed.task.id, fitted(`  ${rest}`, terminal.width)];
    });
  const rows = tasks.map((placed) => [
    isLong(placed) ? '' : mark(placed.state, terminal),
    isLong(placed) ? '' : placed.task.id,
    ...about(placed),
  ]);
  return table(rows, terminal.width, [0, 1]).flatMap((row, i) => {
    const { task, state } = tasks[i]!;
    return isLong(tasks[i]!) ? [`${mark(state, terminal)}  ${task.id}`, row] : [row];
  });
}

const STATE_COLUMNS = 'completed'.length + 2;
/** Room for the name of an agent and the first words of a description. */
const BESIDE_COLUMNS = 2 + 24;

export function mark(state: TaskState, terminal: Terminal): string {
  const colours = { pending: 'cyan', active: 'yellow', waiting: 'magenta', completed: 'green', failed: 'red' } as const;
  return terminal.colour(colours[state], state);
}
