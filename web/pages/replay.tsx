/** A past run: a slider through time, the tree as it was, and what happened until then. */
import type { JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { ReplayRun, TaskPage } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Legend } from '../lanes.tsx';
import { moment, range, showNow } from '../moment.ts';
import { Empty, Loaded, LoadedPage, Panel, TaskLink, TaskState } from '../parts.tsx';
import { TimeSlider } from '../past-bar.tsx';
import { address } from '../router.ts';
import { asOf } from '../tasks/as-of.ts';
import { Waterfall } from '../tasks/waterfall.tsx';
import { agentText, ago, clock, money, visible } from '../text.ts';

export function Replay({ id }: { id: string }): JSX.Element {
  return id === '' ? <Choose /> : <Run key={id} id={id} />;
}

function Choose(): JSX.Element {
  const where = encodeURIComponent("parent IS NULL AND state IN ('completed', 'failed')");
  const read = useRead<TaskPage>(`/api/tasks?where=${where}&limit=200`, true);
  return (
    <div class="page">
      <div class="head">
        <h1>Replay</h1>
        <span class="meta">Choose a run. A recorded one opens with guild ui --cassette FILE.</span>
      </div>
      <Loaded read={read}>
        {({ total, rows }) =>
          total === 0 ? (
            <Empty icon="replay" title="No run has ended yet">
              Every run can be replayed from its events.
            </Empty>
          ) : (
            <section class="panel">
              {rows.map((row) => (
                <a key={row.id} class="row rrow" href={address('replay', row.id)}>
                  <TaskState row={row} plain />
                  <span class="one">{visible(row.title)}</span>
                  <span class="num">{money(row.microUsd)}</span>
                  <span class="num">{ago(row.endedAt ?? row.createdAt)}</span>
                </a>
              ))}
            </section>
          )
        }
      </Loaded>
    </div>
  );
}

function Run({ id }: { id: string }): JSX.Element {
  const read = useRead<ReplayRun>(`/api/replay/${encodeURIComponent(id)}`, true);
  return <LoadedPage read={read}>{(run) => <Shown run={run} />}</LoadedPage>;
}

const SHOWN_MAX = 60;

function Shown({ run }: { run: ReplayRun }): JSX.Element {
  const [chosen, setChosen] = useState(0);
  const [first, last] = endsOf(run);
  const { id, title } = run.task;
  const at = moment.value ?? last;
  // Set before the next event: a slider with another run's range would choose a wrong moment.
  useLayoutEffect(() => {
    const stops = [...new Set(run.events.map((event) => Date.parse(event.at)))].sort((a, b) => a - b);
    range.value = { title, href: address('replay', id), from: first, to: last, stops };
    if (moment.value !== undefined && (moment.value < first || moment.value > last)) showNow();
  }, [id, last]);
  const iso = new Date(at).toISOString();
  const shown = run.events.filter((event) => event.at <= iso);
  return (
    <div class="page">
      <div class="head">
        <h1>Replay</h1>
        <TaskLink {...run.task} />
        <span class="grow" />
        {moment.value !== undefined && (
          <>
            <span class="meta">All pages show this moment</span>
            <button type="button" class="btn" onClick={showNow}>
              Back to now
            </button>
          </>
        )}
      </div>
      <section class="panel">
        <header>
          <h2>{clock(iso)}</h2>
          <span class="r">
            <Legend />
          </span>
        </header>
        <div class="b timebar">
          <TimeSlider />
        </div>
        <Waterfall rows={at >= last ? run.tree : asOf(run.tree, at)} chosen={chosen} choose={setChosen} />
      </section>
      <Panel title="What happened until then" count={shown.length}>
        <ol class="b story newest" tabIndex={0} aria-label="What happened until then">
          {shown
            .slice(-SHOWN_MAX)
            .reverse()
            .map((event, i) => (
              <li key={shown.length - i}>
                <time>{clock(event.at)}</time>
                <b class="one">{agentText(event.agent)}</b>
                <span>
                  {visible(event.text)}
                  {event.title !== undefined && event.title !== '' && <span class="dim"> {visible(event.title)}</span>}
                </span>
              </li>
            ))}
        </ol>
      </Panel>
    </div>
  );
}

function endsOf({ tree, events }: ReplayRun): [number, number] {
  const times = [
    ...tree.flatMap(({ createdAt, endedAt }) => [createdAt, ...(endedAt === undefined ? [] : [endedAt])]),
    ...events.map(({ at }) => at),
  ].map((at) => Date.parse(at));
  const first = times.reduce((a, b) => Math.min(a, b), Infinity);
  return [first, times.reduce((a, b) => Math.max(a, b), first + 1)];
}
