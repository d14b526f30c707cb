/** Boards as they are in their files, with live boxes. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Boards as Data } from '../../src/web/base/contract.ts';
import { send, useRead, type Sent } from '../api.ts';
import { Empty, Panel, Refused, Loaded, whyNot } from '../parts.tsx';
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
  if (box === undefined) return <p class="pre">{visible(text) || ' '}</p>;
  const isDone = box === 'x' || box === 'X';
  const set = (): void => void send('board.set', file, { line, box: isDone ? ' ' : 'x' }, seen).then(failed);
  return (
    <p class={`pre box ${BOXES[box] ?? 'open'}`}>
      <button
        type="button"
        class="tick"
        aria-pressed={isDone}
        aria-label={`${isDone ? 'Open again' : 'Mark as done'}: ${visible(text.trim())}`}
        disabled={whyNot() !== undefined || box === '/'}
        onClick={set}
      >
        {isDone ? '✓' : box === '/' ? '…' : ' '}
      </button>
      {visible(text)}
    </p>
  );
}

export function Boards(): JSX.Element {
  const [sent, setSent] = useState<Sent>();
  const read = useRead<Data>('/api/boards');
  return (
    <div class="page">
      <div class="head">
        <h1>Boards</h1>
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
                <Panel key={board.file} title={board.file} side="In your editor">
                  {board.problems.map((text) => (
                    <p key={text} class="b bad">
                      {visible(text)}
                    </p>
                  ))}
                  <div class="b board">
                    {board.lines.map(({ text, box, line }) => (
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
