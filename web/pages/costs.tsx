/** Costs by agent, model, task, role or day. A price that is not known is never shown as zero. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CostRow, Costs as Data } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Empty, Panel, ProblemBox, Still } from '../parts.tsx';
import { count, duration, money, plural, visible } from '../text.ts';

const BY = ['agent', 'model', 'task', 'role', 'day'];

export function Costs(): JSX.Element {
  const [by, setBy] = useState('agent');
  const { data, problem } = useRead<Data>(`/api/costs?by=${by}`);
  const costs = data.value;
  return (
    <div class="page">
      <div class="head">
        <h1>Costs</h1>
        <span class="seg">
          {BY.map((each) => (
            <button key={each} type="button" aria-pressed={each === by} onClick={() => setBy(each)}>
              By {each}
            </button>
          ))}
        </span>
      </div>
      {problem.value !== undefined && <ProblemBox problem={problem.value} />}
      {costs === undefined ? <Still rows={8} /> : <Shown costs={costs} />}
    </div>
  );
}

function Shown({ costs }: { costs: Data }): JSX.Element {
  if (costs.rows.length === 0)
    return (
      <Empty icon="costs" title="Nothing was spent yet">
        Every model call is counted here, from the files in <code>events/</code>.
      </Empty>
    );
  const most = Math.max(...costs.rows.map((row) => row.microUsd), 1);
  return (
    <div class="stack">
      <Days days={costs.days} />
      <Panel title={`By ${costs.by}`} count={costs.rows.length}>
        <div class="scrollx" tabIndex={0}>
          <table class="tt">
            <thead>
              <tr>
                <th>{costs.by}</th>
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
      </Panel>
    </div>
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

function Days({ days }: { days: Data['days'] }): JSX.Element {
  const most = Math.max(...days.map((day) => day.microUsd), 1);
  const width = Math.max(days.length, 7) * 28;
  return (
    <Panel title="By day" side={plural(days.length, 'day')}>
      <div class="b scrollx" tabIndex={0}>
        <svg
          class="g bars days"
          viewBox={`0 0 ${width} 96`}
          width={width}
          height="96"
          role="img"
          aria-label="Costs by day"
        >
          <line class="gl" x1="0" x2={width} y1="78.5" y2="78.5" />
          {days.map((day, i) => {
            const height = Math.max(day.microUsd > 0 ? 2 : 0, (day.microUsd / most) * 70);
            return (
              <g key={day.day}>
                <rect class="now" x={i * 28 + 4} y={78 - height} width="20" height={height} rx="2">
                  <title>{`${day.day}: ${money(day.microUsd)}, ${count(day.tokens)} tokens`}</title>
                </rect>
                <text class="sm" x={i * 28 + 14} y="92" text-anchor="middle">
                  {day.day.slice(8)}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
    </Panel>
  );
}
