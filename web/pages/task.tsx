/** One task: what it cost, what happened when, its answer, and what you can do with it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { IntentKind, TaskAct, TaskDetail, TreeRow, Why } from '../../src/web/base/contract.ts';
import { send, useRead, type Sent } from '../api.ts';
import { Icon } from '../icons.tsx';
import { useKeys } from '../keys.ts';
import { Legend, Track } from '../lanes.tsx';
import { Markdown } from '../markdown.tsx';
import { Figure, Id, Panel, ProblemBox, Refused, Still, Taint, TaskLink, TaskState, whyNot } from '../parts.tsx';
import { address, go } from '../router.ts';
import { clock, count, duration, money, now, visible } from '../text.ts';
import { Ask } from '../ask.tsx';

const VIEWS = ['Waterfall', 'Why'] as const;
type View = (typeof VIEWS)[number];

export function Task({ id }: { id: string }): JSX.Element {
  const { data, problem } = useRead<TaskDetail>(`/api/tasks/${encodeURIComponent(id)}`);
  const [view, setView] = useState<View>('Waterfall');
  const [chosen, setChosen] = useState(0);
  const task = data.value;
  if (task === undefined)
    return (
      <div class="page">
        {problem.value === undefined ? <Still rows={8} /> : <ProblemBox problem={problem.value} />}
      </div>
    );
  const { row, usage } = task;
  const end = row.endedAt === undefined ? now.value : Date.parse(row.endedAt);
  return (
    <div class="page">
      <div class="crumb">
        <a class="link" href="#/tasks">
          Tasks
        </a>
        {task.parents.map((parent) => (
          <span key={parent.id}>
            <Icon name="right" small /> <TaskLink id={parent.id} title={parent.title} />
          </span>
        ))}
        <Icon name="right" small />
        <Id id={row.id} short={row.short} />
      </div>
      <div class="head">
        <h1>{visible(row.title)}</h1>
        <TaskState row={row} />
        <Taint sources={task.taint} />
        <span class="grow" />
        <Acts task={task} />
      </div>
      <div class="figs">
        <Figure
          icon="history"
          name="Duration"
          value={duration(end - Date.parse(row.createdAt))}
          about={`for ${row.agent ?? 'nobody yet'}`}
        />
        <Figure icon="costs" name="Cost" value={money(usage.microUsd)} about="with everything below it" />
        <Figure
          icon="model"
          name="Tokens"
          value={count(usage.inputTokens + usage.outputTokens)}
          about={`${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out, ${usage.turns} turns`}
        />
        <Figure
          icon="done"
          name="Completion"
          value={task.certificate === undefined ? (row.endedAt === undefined ? 'Open' : 'Ended') : 'Certified'}
          about={task.certificate ?? task.place}
        />
      </div>
      {task.error !== undefined && <ProblemBox problem={task.error} />}
      <section class="panel">
        <header>
          <h2>Run</h2>
          <span class="seg">
            {VIEWS.map((each) => (
              <button key={each} type="button" aria-pressed={each === view} onClick={() => setView(each)}>
                {each}
              </button>
            ))}
          </span>
          <span class="r">
            <Legend />
          </span>
        </header>
        {view === 'Waterfall' ? <Waterfall rows={task.tree} chosen={chosen} choose={setChosen} /> : <WhyView id={id} />}
      </section>
      <div class="taskgrid">
        <Panel title={row.endedAt === undefined ? 'Request' : 'Answer'} side={<code>{task.place}</code>}>
          <div class="b">
            <Markdown text={task.result ?? task.description} links={task.taint.length === 0} />
          </div>
        </Panel>
        <Selected row={task.tree[chosen]} />
      </div>
    </div>
  );
}

interface WaterfallProps {
  rows: readonly TreeRow[];
  chosen: number;
  choose: (at: number) => void;
}

/**
 * The tree and the time in one row. `[` and `]` fold and unfold a level, `+`, `-` and `0` zoom, and
 * the slider shows the run as it was at a moment.
 */
function Waterfall({ rows, chosen, choose }: WaterfallProps): JSX.Element {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [zoom, setZoom] = useState({ from: 0, to: 1 });
  const [moment, setMoment] = useState(1);
  const first = Math.min(...rows.map((row) => Date.parse(row.createdAt)));
  const last = Math.max(...rows.map(endOf), first + 1);
  const at = (part: number): number => first + part * (last - first);
  const [start, end] = [at(zoom.from), at(zoom.to)];
  const shown = visibleRows(asOf(rows, moment >= 1 ? Infinity : at(moment)), closed);
  const toggle = (id: string): void => {
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    setClosed(next);
  };
  const move = (by: number): void => {
    const at = shown.findIndex(({ i }) => i === chosen);
    choose(shown[Math.min(shown.length - 1, Math.max(0, at + by))]?.i ?? 0);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    '[': () => setClosed(new Set(rows.filter((row) => row.depth >= 1).map((row) => row.id))),
    ']': () => setClosed(new Set()),
    '+': () => setZoom(zoomed(zoom, 0.5)),
    '-': () => setZoom(zoomed(zoom, 2)),
    '0': () => setZoom({ from: 0, to: 1 }),
    ArrowLeft: () => setZoom(panned(zoom, -0.2)),
    ArrowRight: () => setZoom(panned(zoom, 0.2)),
    Enter: () => {
      const { session, id } = rows[chosen] ?? {};
      if (session !== undefined) go(address('conversation', session));
      else if (id !== undefined) go(address('task', id));
    },
  });
  return (
    <div class="wf">
      <label class="when">
        <span class="dim">
          {moment >= 1 ? 'As it is now' : `As it was at ${clock(new Date(at(moment)).toISOString())}`}
        </span>
        <input
          type="range"
          min="0"
          max="1000"
          value={moment * 1000}
          onInput={(event) => setMoment(Number(event.currentTarget.value) / 1000)}
        />
      </label>
      <div class="wfr wfh">
        <span class="t">Task</span>
        <span class="num">Time</span>
        <span class="num">Cost</span>
        <span class="ticks">
          {[0, 0.25, 0.5, 0.75].map((part) => (
            <span key={part}>{duration(start - first + part * (end - start))}</span>
          ))}
        </span>
      </div>
      {shown.map(({ row, i, hasChildren }) => (
        <div key={row.id} class={i === chosen ? 'wfr sel' : 'wfr'} onClick={() => choose(i)}>
          <span class={`t d${Math.min(row.depth, 8)}`}>
            {hasChildren ? (
              <button
                type="button"
                class={closed.has(row.id) ? 'tw' : 'tw open'}
                aria-label={closed.has(row.id) ? 'Unfold' : 'Fold'}
                onClick={() => toggle(row.id)}
              >
                <Icon name="right" small />
              </button>
            ) : (
              <span class="tw" />
            )}
            <TaskState row={row} plain brief />
            <TaskLink id={row.id} title={row.title} />
            <span class="dim">{visible(row.agent ?? '')}</span>
          </span>
          <span class="num">
            {duration((row.endedAt === undefined ? now.value : Date.parse(row.endedAt)) - Date.parse(row.createdAt))}
          </span>
          <span class="num">{money(row.microUsd)}</span>
          <Track spans={row.spans} start={start} end={end} />
        </div>
      ))}
    </div>
  );
}

function endOf(row: TreeRow): number {
  return row.endedAt === undefined ? now.value : Date.parse(row.endedAt);
}

interface Zoom {
  from: number;
  to: number;
}

function zoomed({ from, to }: Zoom, factor: number): Zoom {
  const middle = (from + to) / 2;
  const half = Math.min(0.5, Math.max(0.0005, ((to - from) / 2) * factor));
  return panned({ from: middle - half, to: middle + half }, 0);
}

/** Moves by a part of what is shown, and never beyond the run. */
function panned({ from, to }: Zoom, by: number): Zoom {
  const size = to - from;
  const start = Math.min(1 - size, Math.max(0, from + by * size));
  return { from: start, to: start + size };
}

/** The tree as it was: tasks that existed, open ones as open, and spans up to then. */
function asOf(rows: readonly TreeRow[], moment: number): readonly TreeRow[] {
  if (moment === Infinity) return rows;
  const iso = new Date(moment).toISOString();
  return rows
    .filter((row) => row.createdAt <= iso)
    .map((row) => {
      const spans = row.spans
        .filter((span) => span.start <= iso)
        .map((span) => ({ ...span, end: span.end !== undefined && span.end < iso ? span.end : iso }));
      if (row.endedAt !== undefined && row.endedAt <= iso) return { ...row, spans };
      const isWaiting = ['wait', 'you'].includes(spans.at(-1)?.kind ?? '');
      return {
        ...row,
        spans,
        endedAt: iso,
        code: undefined,
        state: spans.length === 0 ? 'pending' : isWaiting ? 'waiting' : 'active',
      };
    });
}

function visibleRows(
  rows: readonly TreeRow[],
  closed: ReadonlySet<string>,
): { row: TreeRow; i: number; hasChildren: boolean }[] {
  const out: { row: TreeRow; i: number; hasChildren: boolean }[] = [];
  let hiddenBelow = Infinity;
  for (const [i, row] of rows.entries()) {
    if (row.depth > hiddenBelow) continue;
    hiddenBelow = closed.has(row.id) ? row.depth : Infinity;
    out.push({ row, i, hasChildren: (rows[i + 1]?.depth ?? 0) > row.depth });
  }
  return out;
}

function Selected({ row }: { row: TreeRow | undefined }): JSX.Element | null {
  if (row === undefined) return null;
  const models = [...new Set(row.spans.flatMap((span) => span.model ?? []))];
  const tools = row.spans.filter((span) => span.kind === 'tool');
  return (
    <Panel title="Selected">
      <div class="b">
        <b>{visible(row.title)}</b>
        <div class="srow">
          <span class="mid">Agent</span>
          <span>{visible(row.agent ?? 'nobody yet')}</span>
        </div>
        <div class="srow">
          <span class="mid">Model</span>
          <span>{visible(models.join(', ')) || '–'}</span>
        </div>
        <div class="srow">
          <span class="mid">Tokens</span>
          <span>{count(row.tokens)}</span>
        </div>
        <div class="srow">
          <span class="mid">Tools</span>
          <span>{visible(tools.map((span) => span.label).join(', ')) || '–'}</span>
        </div>
        <div class="srow">
          <span class="mid">Conversation</span>
          {row.session === undefined ? (
            '–'
          ) : (
            <a class="link" href={address('conversation', row.session)}>
              open
            </a>
          )}
        </div>
      </div>
    </Panel>
  );
}

function WhyView({ id }: { id: string }): JSX.Element {
  const { data, problem } = useRead<Why>(`/api/tasks/${encodeURIComponent(id)}/why`);
  if (problem.value !== undefined) return <ProblemBox problem={problem.value} />;
  if (data.value === undefined) return <Still />;
  const { chain, shares, origin, story } = data.value;
  return (
    <div class="b why">
      {chain.map((line, i) => (
        <p key={i} class={`d${Math.min(i, 8)}`}>
          {i > 0 && '→ '}
          {visible(line)}
        </p>
      ))}
      {shares.map((line) => (
        <p key={line}>{visible(line)}</p>
      ))}
      <h3>Who asked</h3>
      {origin.map((line, i) => (
        <p key={i} class={`d${Math.min(i, 8)}`}>
          {visible(line)}
        </p>
      ))}
      <h3>What happened</h3>
      <ol class="story">
        {story.map(({ at, text }, i) => (
          <li key={i}>
            <time>{clock(at)}</time> {visible(text)}
          </li>
        ))}
      </ol>
    </div>
  );
}

const ACTS: Record<
  Exclude<TaskAct, 'fork'>,
  { name: string; kind: IntentKind; key: string; ask?: string; arg?: string }
> = {
  tell: { name: 'Tell…', kind: 'task.tell', key: 't', ask: 'The agent reads this before its next turn.', arg: 'text' },
  retry: { name: 'Retry', kind: 'task.retry', key: 'r' },
  stop: { name: 'Stop', kind: 'task.stop', key: 'p' },
  cancel: {
    name: 'Cancel…',
    kind: 'task.cancel',
    key: 'x',
    ask: 'Why? The task and everything below it ends.',
    arg: 'reason',
  },
};

function Acts({ task }: { task: TaskDetail }): JSX.Element {
  const [asking, setAsking] = useState<keyof typeof ACTS>();
  const [sent, setSent] = useState<Sent>();
  const acts = task.can.filter((act) => act !== 'fork');
  const perform = async (act: keyof typeof ACTS, text: string): Promise<void> => {
    const { kind, arg } = ACTS[act];
    const result = await send(kind, task.row.id, arg === undefined || text === '' ? {} : { [arg]: text });
    setSent(result);
    if (result.ok) setAsking(undefined);
  };
  const begin = (act: keyof typeof ACTS): void => {
    if (whyNot() !== undefined) return;
    if (ACTS[act].ask === undefined) void perform(act, '');
    else setAsking(act);
  };
  useKeys(Object.fromEntries(acts.map((act) => [ACTS[act].key, () => begin(act)])));
  return (
    <span class="acts">
      {acts.map((act) => (
        <button
          key={act}
          type="button"
          class="btn"
          disabled={whyNot() !== undefined}
          title={whyNot()}
          onClick={() => begin(act)}
        >
          {ACTS[act].name} <kbd>{ACTS[act].key.toUpperCase()}</kbd>
        </button>
      ))}
      <Refused sent={sent} />
      {asking !== undefined && (
        <Ask
          title={ACTS[asking].name}
          label={ACTS[asking].ask!}
          close={() => setAsking(undefined)}
          done={(text) => perform(asking, text)}
        />
      )}
    </span>
  );
}
