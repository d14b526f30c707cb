/**
 * Tells people what happens, one line for each thing worth telling, in the shape of the task tree: children stand under
 * their parents. With --json every event is a line of its own.
 */
import { INTERVALS } from '../../domain/intervals.js';
import type { Watchers } from '../../app/index.js';
import { kinIn } from '../../domain/task/lineage.js';
import { problemText, type Problem } from '../../domain/problem.js';
import { HUMAN } from '../../domain/task/task.js';
import { whoText } from '../../views/who.js';
import type { Terminal } from './terminal.js';
import { oneLine } from './layout.js';

/** Beside a task that only a person can end. */
export const FOR_YOU = 'waits for you: guild approve';

export interface Narrator extends Watchers {
  /** Ends a line that is still open. */
  close(): void;
  /** So many tasks are open now. */
  left(open: number): void;
  problem(problem: Problem, severity?: 'error' | 'warning'): void;
}

/** The number of open tasks is shown when there are at least this many. */
const CROWD = 100;

/** `streamed`: the task whose text is shown as it comes. `hasShown`: whether that ended with this text, so that it need not be printed again. */
export function narrator(
  { terminal, json }: { terminal: Terminal; json: boolean },
  streamed: () => string | undefined = () => undefined,
): Narrator & { hasShown(text: string): boolean } {
  const kin = kinIn();
  let open = false;
  let shown = '';
  let ended = 0;
  let toldAt = Date.now();
  const close = (): void => {
    if (open) terminal.stream('\n');
    open = false;
  };
  const tell = (task: string | undefined, line: string): void => {
    close();
    const depth = kin.levelOf(task ?? '');
    terminal.say(`${'  '.repeat(depth)}${line}`);
  };
  return {
    close,
    left(count) {
      if (json || count < CROWD || ended === 0 || Date.now() - toldAt < INTERVALS.progressMs) return;
      tell(undefined, terminal.dim(`${count} left`));
      ended = 0;
      toldAt = Date.now();
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
      // What is addressed to nobody yet is told without a name.
      const named = event.agent === undefined || event.agent === 'nobody' ? '' : whoText(event.agent);
      const agent = named === '' ? '' : `${terminal.bold(named)} `;
      const id = terminal.dim(event.task ?? '');
      const detail = event as unknown as Record<string, unknown>;
      switch (event.name) {
        case 'task.created':
          return tell(
            event.task,
            `${terminal.colour('cyan', '+')} ${agent}${id}${named === HUMAN ? ` ${FOR_YOU}` : ''}`,
          );
        case 'tool.ran':
          return tell(
            event.task,
            `${detail['ok'] ? terminal.dim('·') : terminal.colour('red', '·')} ${agent}${String(detail['tool'])}`,
          );
        case 'task.completed':
          return tell(event.task, `${terminal.colour('green', '✓')} ${agent}${id}`);
        case 'task.failed': {
          const error = detail['error'] as Problem | undefined;
          // The command that runs this task tells why itself.
          const why = error === undefined || event.task === streamed() ? '' : `: ${problemText(error)}`;
          return tell(event.task, `${terminal.colour('red', '✗')} ${agent}${id}${why}`);
        }
        case 'task.parked':
          return tell(event.task, `${terminal.colour('magenta', '…')} ${agent}waits ${id}`);
        case 'task.recovered':
          return tell(event.task, `${terminal.colour('yellow', '↻')} ${agent}goes on after a lost process ${id}`);
        case 'session.edited':
          return tell(
            event.task,
            `${terminal.colour('yellow', '✎')} ${agent}goes on from what you changed in its session`,
          );
        case 'human.notified':
          return tell(
            event.task,
            `${terminal.colour('yellow', 'i')} ${agent}${String(detail['tool'])} ${oneLine(JSON.stringify(detail['action']), terminal.width - 30)}`,
          );
        case 'model.failed': {
          // The last failure is the task's own, and told with it.
          if (detail['wait_ms'] === undefined) return undefined;
          const wait = Number(detail['wait_ms']);
          const next = wait > 0 ? `again in ${(wait / 1000).toFixed(0)} s` : 'the next model is asked';
          return tell(event.task, `${terminal.colour('yellow', '!')} ${agent}${String(detail['message'])}; ${next}`);
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
