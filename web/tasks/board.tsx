/**
 * Tasks by state. Dropping a card on a column submits the intent that the column names; a column
 * without one accepts no drop. The menu of a card has the same moves for the keyboard.
 */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Row, TaskBoard } from '../../src/web/base/contract.ts';
import { send, useRead, type Sent } from '../api.ts';
import { Ask } from '../ask.tsx';
import { Icon } from '../icons.tsx';
import { ProblemBox, Refused, Still, Taint, TaskLink, TaskState, whyNot } from '../parts.tsx';
import { address } from '../router.ts';
import { agentText, ago, count, money, visible } from '../text.ts';
import { Nothing } from './list.tsx';
import { movesOf, type Column, type Move } from './moves.ts';

const NAMES: Record<Column, string> = {
  pending: 'Pending',
  active: 'Active',
  waiting: 'Waiting',
  you: 'Needs you',
  completed: 'Completed',
  failed: 'Failed',
};

interface Moving {
  row: Row;
  move: Move;
}

export function Board({ where }: { where: string }): JSX.Element {
  const { data, problem } = useRead<TaskBoard>(`/api/board?where=${encodeURIComponent(where)}`);
  const [dragged, setDragged] = useState<Row>();
  const [asking, setAsking] = useState<Moving>();
  const [sent, setSent] = useState<Sent>();
  if (problem.value !== undefined) return <ProblemBox problem={problem.value} />;
  if (data.value === undefined) return <Still rows={6} />;
  if (data.value.columns.every(({ total }) => total === 0)) return <Nothing where={where} view="board" />;
  const perform = async ({ row, move }: Moving, reason = ''): Promise<void> => {
    setSent(await send(move.kind, row.id, reason === '' ? {} : { reason }));
    setAsking(undefined);
  };
  const begin = (moving: Moving): void => {
    setDragged(undefined);
    if (whyNot() !== undefined) return;
    if (moving.move.asks === undefined) void perform(moving);
    else setAsking(moving);
  };
  return (
    <>
      <Refused sent={sent} />
      <div class="kanban" role="region" tabIndex={0} aria-label="Tasks by state">
        {data.value.columns.map((column) => (
          <ColumnView key={column.state} column={column} dragged={dragged} drag={setDragged} begin={begin} />
        ))}
      </div>
      {asking?.move.asks !== undefined && (
        <Ask
          title={asking.move.name}
          label={asking.move.asks}
          close={() => setAsking(undefined)}
          done={(reason) => perform(asking, reason)}
        />
      )}
    </>
  );
}

interface ColumnProps {
  column: TaskBoard['columns'][number];
  dragged: Row | undefined;
  drag: (row: Row | undefined) => void;
  begin: (moving: Moving) => void;
}

function ColumnView({ column, dragged, drag, begin }: ColumnProps): JSX.Element {
  const [isOver, setOver] = useState(false);
  const move = dragged && movesOf(dragged).find(({ to }) => to === column.state);
  const tone = dragged === undefined ? '' : move === undefined ? ' off' : isOver ? ' target over' : ' target';
  return (
    <section
      class={`col${tone}`}
      data-state={column.state}
      onDragOver={(event) => {
        if (move === undefined) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (dragged !== undefined && move !== undefined) begin({ row: dragged, move });
      }}
    >
      <h2>
        {NAMES[column.state]} <span class="n">{count(column.total)}</span>
        {move !== undefined && <span class="means">{move.name}</span>}
      </h2>
      <ul>
        {column.rows.map((row) => (
          <Card key={row.id} row={row} drag={drag} begin={begin} />
        ))}
      </ul>
      {column.total > column.rows.length && (
        <p class="dim b">{count(column.total - column.rows.length)} more are in the list</p>
      )}
    </section>
  );
}

interface CardProps {
  row: Row;
  drag: (row: Row | undefined) => void;
  begin: (moving: Moving) => void;
}

function Card({ row, drag, begin }: CardProps): JSX.Element {
  const moves = movesOf(row);
  const canMove = moves.length > 0 && whyNot() === undefined;
  return (
    <li
      class="card"
      draggable={canMove}
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', row.id);
        drag(row);
      }}
      onDragEnd={() => drag(undefined)}
    >
      <div class="ct">
        <TaskState row={row} plain brief />
        {row.agent === 'human' ? (
          <a class="link" href={address('inbox', row.id)}>
            {visible(row.title)}
          </a>
        ) : (
          <TaskLink id={row.id} title={row.title} />
        )}
        {canMove && <Menu row={row} moves={moves} begin={begin} />}
      </div>
      <div class="cm">
        {row.agent !== undefined && row.agent !== 'human' && <b>{agentText(row.agent)}</b>}
        <span>{ago(row.endedAt ?? row.createdAt)}</span>
        {row.microUsd > 0 && <span>{money(row.microUsd)}</span>}
        {row.code !== undefined && <span class="bad">{visible(row.code)}</span>}
        <Taint sources={row.taint ?? []} />
      </div>
    </li>
  );
}

function Menu({ row, moves, begin }: { row: Row; moves: Move[]; begin: (moving: Moving) => void }): JSX.Element {
  return (
    <details class="menu" onKeyDown={(event) => event.key === 'Escape' && (event.currentTarget.open = false)}>
      <summary aria-label={`Move ${visible(row.title)}`}>
        <Icon name="more" small />
      </summary>
      <div class="items">
        {moves.map((move) => (
          <button key={move.kind} type="button" onClick={() => begin({ row, move })}>
            {move.name}
          </button>
        ))}
      </div>
    </details>
  );
}
