/** Boards as they are in their files, with live boxes. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Boards as Data } from '../../src/web/base/contract.ts';
import { send, useRead, type Sent } from '../api.ts';
import { Empty, Panel, Refused, Loaded, whyNot } from '../parts.tsx';
import { address } from '../router.ts';
import { visible } from '../text.ts';

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
  return (
    <p class={`pre box ${BOXES[box] ?? 'open'} in${depth}`}>
      <button
        type="button"
        class="tick"
        aria-pressed={isDone}
        aria-label={`${isDone ? 'Open again' : 'Mark as done'}: ${words}`}
        disabled={whyNot() !== undefined || box === '/'}
        title={BOXES[box]}
        onClick={set}
      >
        {isDone ? '✓' : box === '/' ? '…' : box === '-' ? '–' : ' '}
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

/** The heading in its first line. */
function titleOf({ lines }: Data['boards'][number]): string | undefined {
  return /^# +(.+)$/.exec(lines[0]?.text ?? '')?.[1];
}

/** Without the title, which the panel has, and without the empty lines around the rest. */
function shownLines(board: Data['boards'][number]): Data['boards'][number]['lines'] {
  const lines = board.lines.slice(titleOf(board) === undefined ? 0 : 1);
  const isText = ({ text }: { text: string }): boolean => text.trim() !== '';
  return lines.slice(Math.max(0, lines.findIndex(isText)), lines.findLastIndex(isText) + 1);
}

/** `2 of 5 done`, of the boxes that still count. */
function progress({ lines }: Data['boards'][number]): string {
  const boxes = lines.flatMap(({ box }) => (box === undefined || box === '-' ? [] : [box]));
  return `${boxes.filter((box) => BOXES[box] === 'done').length} of ${boxes.length} done`;
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
            <Empty icon="boards" title="There is no board">
              A board is a file like <code>tasks/plan.task.md</code> with lines like{' '}
              <code>- [ ] Write the report @writer</code>.
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
                  {board.problems.map((text) => (
                    <p key={text} class="b bad">
                      {visible(text)}
                    </p>
                  ))}
                  <div class="b board">
                    {shownLines(board).map(({ text, box, line }) => (
                      <BoardLine
                        key={line}
                        text={text}
                        box={box}
                        line={line}
                        file={board.file}
                        seen={board.seen}
                        failed={setSent}
                      />
                    ))}
                  </div>
                </Panel>
              ))}
            </div>
          )
        }
      </Loaded>
    </div>
  );
}
