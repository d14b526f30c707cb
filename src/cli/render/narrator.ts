/**
 * Prints one line for each event of interest to people, with tasks indented under their parents.
 * With `--json` it prints every event.
 */
import { INTERVALS } from '../../domain/intervals.js';
import type { Watchers } from '../../app/index.js';
import { kinIn } from '../../domain/task/lineage.js';
import { problemText, type Problem } from '../../domain/problem.js';
import { HUMAN } from '../../domain/task/task.js';
import { whoText } from '../../views/who.js';
import type { Terminal } from './terminal.js';
import { oneLine } from './layout.js';

/** Next to a task that only a person can end. */
export const FOR_YOU = 'waits for you: guild approve';

export interface Narrator extends Watchers {
  /** Ends a line that is still open. */
  close(): void;
  /** The number of open tasks has changed. */
  left(open: number): void;
  problem(problem: Problem, severity?: 'error' | 'warning'): void;
}

/** The number of open tasks is shown when there are at least this many. */
const CROWD = 100;

/**
 * `streamed`: the task whose text is printed as it arrives. `hasShown`: true if the printed text
 * ended with this one, which then need not be printed again.
 */
export function narrator(
  { terminal, json }: { terminal: Terminal; json: boolean },
  streamed: () => string | undefined = () => undefined,
): Narrator & { hasShown(text: string): boolean } {
  const kin = kinIn();
  let open = false;
  let shown = '';
  let ended = 0;
  let printedAt = Date.now();
  const close = (): void => {
    if (open) terminal.stream('\n');
    open = false;
  };
  /** Tasks that were printed: below them, the end of an id is enough. */
  const printed = new Set<string>();
  const shownId = (id: string): string =>
    printed.has(kin.parentOf(id) ?? '') ? id.slice(id.lastIndexOf('.') + 1) : id;
  const print = (task: string | undefined, line: string): void => {
    close();
    const depth = kin.levelOf(task ?? '');
    if (task !== undefined) printed.add(task);
    terminal.say(`${'  '.repeat(depth)}${line}`);
  };
  return {
    close,
    left(count) {
      if (json || count < CROWD || ended === 0 || Date.now() - printedAt < INTERVALS.progressMs) return;
      print(undefined, terminal.dim(`${count} left`));
      ended = 0;
      printedAt = Date.now();
    },
    hasShown: (text) => shown.trimEnd().endsWith(text.trim()),
    text(task, _agent, text) {
      if (json || task.id !== streamed() || text === '') return;
      terminal.stream(text);
      shown += text;
      open = !text.endsWith('\n');
    },
    event(event) {
      if (json) return terminal.json(event);
      kin.see(event);
      if (event.name === 'task.completed' || event.name === 'task.failed') ended++;
      // A task that is offered has no agent yet.
      const named = event.agent === undefined || event.agent === 'nobody' ? '' : whoText(event.agent);
      const agent = named === '' ? '' : `${terminal.bold(named)} `;
      const id = terminal.dim(shownId(event.task ?? ''));
      const detail = event as unknown as Record<string, unknown>;
      switch (event.name) {
        case 'task.created':
          return print(
            event.task,
            `${terminal.colour('cyan', '+')} ${agent}${id}${named === HUMAN ? ` ${FOR_YOU}` : ''}`,
          );
        case 'tool.ran':
          return print(
            event.task,
            `${detail['ok'] ? terminal.dim('·') : terminal.colour('red', '·')} ${agent}${String(detail['tool'])}`,
          );
        case 'task.completed':
          return print(event.task, `${terminal.colour('green', '✓')} ${agent}${id}`);
        case 'task.failed': {
          const error = detail['error'] as Problem | undefined;
          // `guild run` prints the problem of its own task itself.
          const why = error === undefined || event.task === streamed() ? '' : `: ${problemText(error)}`;
          return print(event.task, `${terminal.colour('red', '✗')} ${agent}${id}${why}`);
        }
        case 'task.parked':
          return print(event.task, `${terminal.colour('magenta', '…')} ${agent}waits ${id}`);
        case 'task.recovered':
          return print(event.task, `${terminal.colour('yellow', '↻')} ${agent}resumes after a lost process ${id}`);
        case 'session.edited':
          return print(event.task, `${terminal.colour('yellow', '✎')} ${agent}continues from your edit of its session`);
        case 'human.notified':
          return print(
            event.task,
            `${terminal.colour('yellow', 'i')} ${agent}${String(detail['tool'])} ${oneLine(JSON.stringify(detail['action']), terminal.width - 30)}`,
          );
        case 'model.failed': {
          // The last failure ends the task and is printed with it.
          if (detail['wait_ms'] === undefined) return undefined;
          const wait = Number(detail['wait_ms']);
          const next = wait > 0 ? `retrying in ${(wait / 1000).toFixed(0)} s` : 'trying the next model';
          return print(event.task, `${terminal.colour('yellow', '!')} ${agent}${String(detail['message'])}; ${next}`);
        }
        default:
          return undefined;
      }
    },
    problem(problem, severity) {
      close();
      terminal.problem(problem, severity);
    },
  };
}
