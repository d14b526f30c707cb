/** Costs by agent, model, task, role or day. A price that is not known is never shown as zero. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { BudgetUse, CostRow, Costs as Data } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { UseBar } from '../charts/budget-bar.tsx';
import { Empty, Loaded, Panel, Segments, TaskLink } from '../parts.tsx';
import { capitalized, count, duration, money, plural, visible } from '../text.ts';

const BY = ['agent', 'model', 'task', 'role', 'day'];
const RANGES: [string, number][] = [
  ['Day', 1],
  ['14 days', 14],
  ['Month', 31],
];

export function Costs(): JSX.Element {
  const [by, setBy] = useState('model');
  const [days, setDays] = useState(14);
  const read = useRead<Data>(`/api/costs?by=${by}&days=${days}`);
  const costs = read.data.value;
  return (
    <div class="page">
      <div class="head">
        <h1>Costs</h1>
        {costs !== undefined && (
          <span class="meta">
            {money(costs.total.microUsd, costs.total.unpricedCalls)} in {days === 1 ? 'one day' : `${days} days`}
          </span>
        )}
        <span class="grow" />
        <Segments label="Range" of={RANGES} chosen={days} choose={setDays} />
        <Segments label="By" of={BY.map(capitalized)} chosen={by} choose={setBy} />
      </div>
      <Loaded read={read}>{(data) => <Shown costs={data} days={days} />}</Loaded>
    </div>
  );
}

function Shown({ costs, days }: { costs: Data; days: number }): JSX.Element {
  if (costs.rows.length === 0)
    return (
      <Empty icon="costs" title="Nothing was spent in this time">
        Every model call is counted here, from the files in <code>events/</code>.
      </Empty>
    );
  return (
    <div class="stack">
      <Panel title="By day" side={<Keys keys={costs.keys} />}>
        {costs.total.microUsd === 0 ? <NoCost {...costs.total} /> : <Chart costs={costs} />}
      </Panel>
      <div class="costgrid">
        <div class="stack">
          <Panel title={`By ${costs.by}`} count={costs.rows.length}>
            <Table costs={costs} />
          </Panel>
          <Beside by={costs.by === 'agent' ? 'model' : 'agent'} days={days} />
        </div>
        <Budgets budgets={costs.budgets} />
      </div>
    </div>
  );
}

function NoCost({ unpricedCalls }: CostRow): JSX.Element {
  if (unpricedCalls === 0) return <p class="b dim">These model calls cost nothing.</p>;
  return (
    <p class="b dim">
      No price is known for {plural(unpricedCalls, 'call')}: set it under <code>prices</code> in <code>guild.yaml</code>
      .
    </p>
  );
}

function Table({ costs }: { costs: Data }): JSX.Element {
  const most = Math.max(...costs.rows.map((row) => row.microUsd), 1);
  return (
    <div class="scrollx" role="region" tabIndex={0} aria-label={`Costs by ${costs.by}`}>
      <table class="tt">
        <thead>
          <tr>
            <th>{capitalized(costs.by)[0]}</th>
            <th aria-label="Share" />
            <th class="num">Calls</th>
            <th class="num hide">Tools</th>
            <th class="num hide">Tokens</th>
            <th class="num hide">Time</th>
            <th class="num">Cost</th>
          </tr>
        </thead>
        <tbody>
          {costs.rows.map((row) => (
            <CostLine key={row.key} row={row} most={most} />
          ))}
          <CostLine row={costs.total} most={0} />
        </tbody>
      </table>
    </div>
  );
}

const BESIDE_MAX = 8;

/** The other view that people look for: who spent it, or on which model. */
function Beside({ by, days }: { by: string; days: number }): JSX.Element | null {
  const { data } = useRead<Data>(`/api/costs?by=${by}&days=${days}`);
  const rows = data.value?.rows.slice(0, BESIDE_MAX) ?? [];
  if (rows.length === 0) return null;
  const most = Math.max(...rows.map((row) => row.microUsd), 1);
  const all = data.value!.rows.length;
  return (
    <Panel title={`By ${by}`} side={all > rows.length ? `${rows.length} of ${all}` : ''}>
      <ul class="list shares">
        {rows.map((row) => (
          <li key={row.key}>
            <b class="name one">{visible(row.key)}</b>
            <meter class="bar" min={0} max={most} value={row.microUsd} />
            <span class="num hide">{plural(row.calls, 'call')}</span>
            <span class="num hide">{count(row.tokens)}</span>
            <span class="num">{money(row.microUsd, row.unpricedCalls)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Keys({ keys }: { keys: string[] }): JSX.Element {
  return (
    <span class="legend">
      {keys.map((key, i) => (
        <span key={key}>
          <i class={`c${i}`} />
          {visible(key)}
        </span>
      ))}
    </span>
  );
}

/** The chart loads with its page; the table below has the same numbers. */
function Chart({ costs }: { costs: Data }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const key = JSON.stringify([costs.keys, costs.days]);
  useEffect(() => {
    let chart: { close(): void } | undefined;
    let isOpen = true;
    void import('../charts/days.ts').then(({ drawDays }) => {
      if (isOpen && place.current !== null) chart = drawDays(place.current, costs);
    });
    return () => {
      isOpen = false;
      chart?.close();
    };
  }, [key]);
  return <div class="chart" ref={place} role="img" aria-label="Costs by day; the table has the sums" />;
}

/** Reserved is hatched, spent is solid. */
function Budgets({ budgets }: { budgets: BudgetUse[] }): JSX.Element {
  const text = (use: BudgetUse, value: number): string => (use.isMoney ? money(value) : count(value));
  return (
    <Panel title="Budgets" side="of open tasks">
      {budgets.length === 0 ? (
        <Empty icon="costs" title="No open task has used any of a limit">
          Set one with <code>budget:</code> in <code>guild.yaml</code>, an agent or a task.
        </Empty>
      ) : (
        <ul class="list budgets">
          {budgets.map((use) => (
            <li key={`${use.task.id} ${use.name}`}>
              <span class="split">
                <TaskLink {...use.task} />
                <span>
                  {text(use, use.spent)}
                  {use.reserved > 0 && ` + ${text(use, use.reserved)} reserved`}
                  <span class="mid">
                    {' '}
                    of {text(use, use.limit)} {use.isMoney ? '' : use.name}
                  </span>
                </span>
              </span>
              <UseBar {...use} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function CostLine({ row, most }: { row: CostRow; most: number }): JSX.Element {
  return (
    <tr class={most === 0 ? 'sum' : ''}>
      <td class="title">{visible(row.key)}</td>
      <td>{most > 0 && <meter class="bar" min={0} max={most} value={row.microUsd} />}</td>
      <td class="num">{count(row.calls)}</td>
      <td class="num hide">{count(row.toolCalls)}</td>
      <td class="num hide">{count(row.tokens)}</td>
      <td class="num hide">{duration(row.ms)}</td>
      <td class="num">{money(row.microUsd, row.unpricedCalls)}</td>
    </tr>
  );
}
