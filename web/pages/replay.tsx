/** A run again: a slider through time, the tree as it was, and what happened until then. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ReplayRun, TaskPage } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Icon } from '../icons.tsx';
import { useKeys } from '../keys.ts';
import { Legend } from '../lanes.tsx';
import { Empty, Panel, ProblemBox, Loading, TaskLink, TaskState } from '../parts.tsx';
import { address } from '../router.ts';
import { asOf } from '../tasks/as-of.ts';
import { Waterfall } from '../tasks/waterfall.tsx';
import { ago, clock, duration, money, visible } from '../text.ts';

export function Replay({ id }: { id: string }): JSX.Element {
  return id === '' ? <Choose /> : <Run key={id} id={id} />;
}

function Choose(): JSX.Element {
  const where = encodeURIComponent("parent IS NULL AND state IN ('completed', 'failed')");
  const { data, problem } = useRead<TaskPage>(`/api/tasks?where=${where}&from=0&to=200`);
  return (
    <div class="page">
      <div class="head">
        <h1>Replay</h1>
        <span class="meta">Choose a run. A recorded one opens with guild ui --cassette FILE.</span>
      </div>
      {problem.value !== undefined && <ProblemBox problem={problem.value} />}
      {data.value === undefined ? (
        <Loading rows={8} problem={problem.value} />
      ) : data.value.total === 0 ? (
        <Empty icon="replay" title="No run has ended yet">
          Every run can be replayed from its events.
        </Empty>
      ) : (
        <section class="panel">
          {data.value.rows.map((row) => (
            <a key={row.id} class="row rrow" href={address('replay', row.id)}>
              <TaskState row={row} plain />
              <span class="one">{visible(row.title)}</span>
              <span class="num">{money(row.microUsd)}</span>
              <span class="num">{ago(row.endedAt ?? row.createdAt)}</span>
            </a>
          ))}
        </section>
      )}
    </div>
  );
}

/** A whole run plays in about this long. */
const PLAY_MS = 12_000;
const TICK_MS = 60;

function Run({ id }: { id: string }): JSX.Element {
  const { data, problem } = useRead<ReplayRun>(`/api/replay/${encodeURIComponent(id)}`);
  const [part, setPart] = useState(1);
  const [isPlaying, setPlaying] = useState(false);
  const [chosen, setChosen] = useState(0);
  useEffect(() => {
    if (!isPlaying) return undefined;
    const timer = setInterval(() => setPart((now) => Math.min(1, now + TICK_MS / PLAY_MS)), TICK_MS);
    return () => clearInterval(timer);
  }, [isPlaying]);
  useEffect(() => {
    if (part >= 1) setPlaying(false);
  }, [part]);
  const play = (): void => {
    if (!isPlaying && part >= 1) setPart(0);
    setPlaying(!isPlaying);
  };
  useKeys({ ' ': play });
  const run = data.value;
  if (run === undefined)
    return (
      <div class="page">
        {problem.value === undefined ? (
          <Loading rows={8} problem={problem.value} />
        ) : (
          <ProblemBox problem={problem.value} />
        )}
      </div>
    );
  const [first, last] = endsOf(run);
  const moment = part >= 1 ? Infinity : first + part * (last - first);
  const shown = run.events.filter(({ at }) => Date.parse(at) <= moment);
  return (
    <div class="page">
      <div class="head">
        <h1>Replay</h1>
        <TaskLink {...run.task} />
      </div>
      <section class="panel">
        <header>
          <h2>Run</h2>
          <span class="r">
            <Legend />
          </span>
        </header>
        <label class="when">
          <button type="button" class="btn sm" aria-pressed={isPlaying} onClick={play}>
            <Icon name={isPlaying ? 'pause' : 'replay'} small /> {isPlaying ? 'Pause' : 'Play'} <kbd>Space</kbd>
          </button>
          <span class="dim">
            {moment === Infinity
              ? `At the end, after ${duration(last - first)}`
              : `${clock(new Date(moment).toISOString())}, ${duration(moment - first)} after the start`}
          </span>
          <input
            type="range"
            min="0"
            max="1000"
            aria-label="Moment"
            value={part * 1000}
            onInput={(event) => setPart(Number(event.currentTarget.value) / 1000)}
          />
        </label>
        <Waterfall rows={asOf(run.tree, moment)} chosen={chosen} choose={setChosen} />
      </section>
      <Panel title="What happened until then" count={shown.length}>
        <ol class="b story newest">
          {shown
            .slice(-SHOWN_MAX)
            .reverse()
            .map(({ at, agent, text }, i) => (
              <li key={shown.length - i}>
                <time>{clock(at)}</time> <b>{visible(agent ?? '')}</b> {visible(text)}
              </li>
            ))}
        </ol>
      </Panel>
    </div>
  );
}

const SHOWN_MAX = 60;

function endsOf({ tree, events }: ReplayRun): [number, number] {
  const times = [
    ...tree.flatMap(({ createdAt, endedAt }) => [createdAt, ...(endedAt === undefined ? [] : [endedAt])]),
    ...events.map(({ at }) => at),
  ].map((at) => Date.parse(at));
  const first = times.reduce((a, b) => Math.min(a, b), Infinity);
  return [first, times.reduce((a, b) => Math.max(a, b), first + 1)];
}
