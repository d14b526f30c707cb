/** Boards as they are in their files, with live boxes. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Boards as Data } from '../../src/web/base/contract.ts';
import { send, useRead, type Sent } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Empty, Panel, Refused, Loaded, whyNot } from '../parts.tsx';
import { address } from '../router.ts';
import { visible } from '../text.ts';

type BoardProblem = Data['boards'][number]['problems'][number];

const BOXES: Record<string, string> = { ' ': 'open', _: 'open', '/': 'active', x: 'done', X: 'done', '-': 'dropped' };

interface LineProps {
  text: string;
  box: string | undefined;
  line: number;
  file: string;
  seen: string;
  failed: (sent: Sent) => void;
}

/** A click on an open box marks it as done by you, and a click on a done one opens it again. */
function BoardLine({ text, box, line, file, seen, failed }: LineProps): JSX.Element {
  if (box === undefined) return <PlainLine text={text} />;
  const isDone = box === 'x' || box === 'X';
  const set = (): void => void send('board.set', file, { line, box: isDone ? ' ' : 'x' }, seen).then(failed);
  const words = visible(text.replace(/^\s*[-*+] \[.\]\s*/, ''));
  const depth = Math.min(4, Math.floor((/^\s*/.exec(text)?.[0].length ?? 0) / 2));
  const isKnown = BOXES[box] !== undefined;
  return (
    <p class={`pre box ${BOXES[box] ?? 'unknown'} in${depth}`}>
      <button
        type="button"
        class="tick"
        aria-pressed={isDone}
        aria-label={`${isDone ? 'Open again' : 'Mark as done'}: ${words}`}
        disabled={whyNot() !== undefined || box === '/'}
        title={BOXES[box] ?? 'not a box'}
        onClick={set}
      >
        {isDone ? '✓' : box === '/' ? '…' : box === '-' ? '–' : isKnown ? ' ' : visible(box)}
      </button>
      <span>{words}</span>
    </p>
  );
}

/** A heading, a field of the entry above it, or any other line of the file. */
function PlainLine({ text }: { text: string }): JSX.Element {
  const heading = /^#+\s+(.*)$/.exec(text)?.[1];
  if (heading !== undefined) return <h3>{visible(heading)}</h3>;
  const task = /^\s+id:\s*([\w.-]+)\s*$/.exec(text)?.[1];
  if (task !== undefined)
    return (
      <p class="pre field">
        id:{' '}
        <a class="link" href={address('task', task)}>
          {task}
        </a>
      </p>
    );
  return <p class={/^\s+[a-z_]+:/.test(text) ? 'pre field' : 'pre'}>{visible(text.trim())}</p>;
}

/** What is wrong in a line, below it, as in an editor. */
function LineProblem({ problem: { message, hint, severity } }: { problem: BoardProblem }): JSX.Element {
  const isError = severity === 'error';
  return (
    <p class={isError ? 'wrong s-fail' : 'wrong s-wait'} role={isError ? 'alert' : undefined}>
      <Icon name="warn" small />
      <span>
        {visible(message)}
        {hint !== undefined && <small>{visible(hint)}</small>}
      </span>
    </p>
  );
}

/** The heading in its first line. */
function titleOf({ lines }: Data['boards'][number]): string | undefined {
  return /^# +(.+)$/.exec(lines[0]?.text ?? '')?.[1];
}

/** Leaves out the title, which the panel shows, and blank lines at the start and the end. */
function shownLines(board: Data['boards'][number]): Data['boards'][number]['lines'] {
  const lines = board.lines.slice(titleOf(board) === undefined ? 0 : 1);
  const isText = ({ text }: { text: string }): boolean => text.trim() !== '';
  return lines.slice(Math.max(0, lines.findIndex(isText)), lines.findLastIndex(isText) + 1);
}

/** `2 of 5 done`, counting the boxes that still matter. */
function progress({ lines }: Data['boards'][number]): string {
  const boxes = lines.flatMap(({ box }) => (box === undefined || box === '-' ? [] : [box]));
  return `${boxes.filter((box) => BOXES[box] === 'done').length} of ${boxes.length} done`;
}

function Lines({ board, failed }: { board: Data['boards'][number]; failed: (sent: Sent) => void }): JSX.Element {
  const shown = shownLines(board);
  const [first, last] = [shown[0]?.line ?? 1, shown.at(-1)?.line ?? 1];
  const lineOf = ({ where }: BoardProblem): number => Math.min(last, Math.max(first, where?.line ?? first));
  const errors = new Set(board.problems.filter(({ severity }) => severity === 'error').map(lineOf));
  return (
    <div class="b board">
      {errors.size > 0 && (
        <p class="bad">
          {errors.size === 1 ? 'One line has' : `${errors.size} lines have`} a problem. Their tasks are left out until
          the file is repaired.
        </p>
      )}
      {shown.map(({ text, box, line }) => (
        <div key={line}>
          <BoardLine text={text} box={box} line={line} file={board.file} seen={board.seen} failed={failed} />
          {board.problems
            .filter((each) => lineOf(each) === line)
            .map((each) => (
              <LineProblem key={each.message} problem={each} />
            ))}
        </div>
      ))}
    </div>
  );
}

export function Boards(): JSX.Element {
  const [sent, setSent] = useState<Sent>();
  const read = useRead<Data>('/api/boards');
  return (
    <div class="page">
      <div class="head">
        <h1>Boards</h1>
        <span class="meta">Lists in Markdown files; a box is a task</span>
      </div>
      <Refused sent={sent} />
      <Loaded read={read} rows={6}>
        {(data) =>
          data.boards.length === 0 ? (
            <Empty icon="boards" title="No boards yet">
              A board is a file like <code>tasks/plan.task.md</code> with lines like{' '}
              <code>- [ ] Write the report @writer</code> below a heading <code>## TODO</code>.
            </Empty>
          ) : (
            <div class="stack">
              {data.boards.map((board) => (
                <Panel
                  key={board.file}
                  title={titleOf(board) ?? board.file}
                  about={progress(board)}
                  side={
                    <>
                      In your editor <code>{visible(board.file)}</code>
                    </>
                  }
                >
                  <Lines board={board} failed={setSent} />
                </Panel>
              ))}
            </div>
          )
        }
      </Loaded>
    </div>
  );
}
