/** The list of tasks: filters and the query language, rows only for what is on the screen. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Row, TaskPage } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Empty, Id, ProblemBox, TaskLink, TaskState } from '../parts.tsx';
import { address, go, place } from '../router.ts';
import { ago, count, money, visible } from '../text.ts';

const ROW_PX = 34;
const AROUND = 40;

const FILTERS: [string, string][] = [
  ['All', ''],
  ['Open', "state IN ('pending', 'active', 'waiting')"],
  ['Needs you', "to = 'human' AND state IN ('pending', 'active', 'waiting')"],
  ['Failed', "state = 'failed'"],
  ['Roots', 'parent IS NULL'],
];

export function Tasks(): JSX.Element {
  const where = place.value.query.get('where') ?? '';
  const [text, setText] = useState(where);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => setText(where), [where]);
  useKeys({ '/': () => box.current?.focus() });
  const ask = (next: string): void => go(`#/tasks${next === '' ? '' : `?where=${encodeURIComponent(next)}`}`);
  return (
    <div class="page tasks">
      <div class="head">
        <h1>Tasks</h1>
        <span class="seg">
          {FILTERS.map(([name, filter]) => (
            <button key={name} type="button" aria-pressed={filter === where} onClick={() => ask(filter)}>
              {name}
            </button>
          ))}
        </span>
      </div>
      <label class="qbar">
        <code>SELECT … FROM tasks WHERE</code>
        <input
          ref={box}
          value={text}
          spellcheck={false}
          aria-label="Query"
          placeholder="state = 'failed' AND to = 'writer' ORDER BY created_at DESC"
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') ask(text);
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
        />
        <kbd>↵</kbd>
      </label>
      <List key={where} where={where} />
    </div>
  );
}

function List({ where }: { where: string }): JSX.Element {
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [chosen, setChosen] = useState(0);
  const scroll = useRef<HTMLDivElement>(null);
  const first = Math.max(0, Math.floor(top / ROW_PX) - AROUND);
  // Ranges start at multiples, so that scrolling a few rows asks for nothing new.
  const from = Math.floor(first / AROUND) * AROUND;
  const to = from + Math.ceil(height / ROW_PX) + 3 * AROUND;
  const { data, problem } = useRead<TaskPage>(`/api/tasks?where=${encodeURIComponent(where)}&from=${from}&to=${to}`);
  const [kept, setKept] = useState<TaskPage>();
  useEffect(() => {
    if (data.value !== undefined) setKept(data.value);
  }, [data.value]);
  useEffect(() => setHeight(scroll.current?.clientHeight ?? 600), []);
  const shown = data.value ?? kept;
  const total = shown?.total ?? 0;
  const choose = (by: number): void => {
    const next = Math.min(total - 1, Math.max(0, chosen + by));
    setChosen(next);
    const box = scroll.current;
    if (box !== null && (next * ROW_PX < box.scrollTop || (next + 1) * ROW_PX > box.scrollTop + box.clientHeight))
      box.scrollTop = next * ROW_PX - box.clientHeight / 2;
  };
  const row = shown?.rows[chosen - (shown?.from ?? 0)];
  useKeys({
    j: () => choose(1),
    k: () => choose(-1),
    ArrowDown: () => choose(1),
    ArrowUp: () => choose(-1),
    Enter: () => row !== undefined && go(address('task', row.id)),
  });
  if (problem.value !== undefined) return <ProblemBox problem={problem.value} />;
  return (
    <div class="panel tlist">
      <div class="tr thead">
        <span>State</span>
        <span>Task</span>
        <span class="hide">Agent</span>
        <span class="num hide">Tokens</span>
        <span class="num">Cost</span>
        <span class="num">When</span>
      </div>
      <div
        class="tscroll"
        ref={scroll}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        tabIndex={0}
        aria-label={`${total} tasks`}
      >
        {shown !== undefined && total === 0 && (
          <Empty icon="tasks" title={where === '' ? 'There is no task yet' : 'No task matches'}>
            {where === '' ? 'Add one with C.' : <code>{visible(where)}</code>}
          </Empty>
        )}
        <Spacer rows={shown?.from ?? 0} />
        {shown?.rows.map((each, i) => (
          <TaskRow key={each.id} row={each} isChosen={shown.from + i === chosen} />
        ))}
        <Spacer rows={Math.max(0, total - (shown?.from ?? 0) - (shown?.rows.length ?? 0))} />
      </div>
      <div class="tfoot">{count(total)} tasks</div>
    </div>
  );
}

/** Height without rows; set by script, which the policy for styles allows. */
function Spacer({ rows }: { rows: number }): JSX.Element {
  return <div style={{ height: `${rows * ROW_PX}px` }} />;
}

function TaskRow({ row, isChosen }: { row: Row; isChosen: boolean }): JSX.Element {
  return (
    <div class={isChosen ? 'tr on' : 'tr'}>
      <span>
        <TaskState row={row} plain />
      </span>
      <span class="title">
        <TaskLink id={row.id} title={row.title} />
        <Id id={row.id} short={row.short} />
      </span>
      <span class="hide one">{visible(row.agent ?? '')}</span>
      <span class="num hide">{count(row.tokens)}</span>
      <span class="num">{money(row.microUsd)}</span>
      <span class="num">{ago(row.endedAt ?? row.createdAt)}</span>
    </div>
  );
}
