/** One task: what it cost, what happened when, its answer, and what you can do with it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { IntentKind, TaskAct, TaskDetail, TreeRow } from '../../src/web/base/contract.ts';
import { send, useRead, type Sent } from '../api.ts';
import { Icon } from '../icons.tsx';
import { useKeys } from '../keys.ts';
import { Legend } from '../lanes.tsx';
import { Markdown } from '../markdown.tsx';
import { Figure, Id, Panel, ProblemBox, Refused, Loading, Taint, TaskLink, TaskState, whyNot } from '../parts.tsx';
import { address } from '../router.ts';
import { count, duration, money, now, visible } from '../text.ts';
import { Ask } from '../ask.tsx';
import { Waterfall } from '../tasks/waterfall.tsx';
import { WhyView } from '../tasks/why.tsx';

const VIEWS = ['Waterfall', 'Why', 'Files'] as const;
type View = (typeof VIEWS)[number];

export function Task({ id }: { id: string }): JSX.Element {
  const { data, problem } = useRead<TaskDetail>(`/api/tasks/${encodeURIComponent(id)}`);
  const [view, setView] = useState<View>('Waterfall');
  const [chosen, setChosen] = useState(0);
  const task = data.value;
  if (task === undefined)
    return (
      <div class="page">
        {problem.value === undefined ? (
          <Loading rows={8} problem={problem.value} />
        ) : (
          <ProblemBox problem={problem.value} />
        )}
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
        <a class="btn" href={address('replay', row.id)}>
          <Icon name="replay" /> Replay
        </a>
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
        {view === 'Waterfall' && <Waterfall rows={task.tree} chosen={chosen} choose={setChosen} />}
        {view === 'Why' && <WhyView id={id} />}
        {view === 'Files' && <Files task={task} />}
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

/** The files of the run: each task, its conversation and its result. */
function Files({ task }: { task: TaskDetail }): JSX.Element {
  return (
    <ul class="list">
      {task.tree.map((row) => (
        <li key={row.id}>
          <TaskState row={row} plain brief />
          <code class="one">
            {row.endedAt === undefined ? `tasks/${row.state}/${row.id}.json` : `results/${row.id}.md`}
          </code>
          {row.session !== undefined && (
            <a class="link r" href={address('conversation', row.session)}>
              sessions/{visible(row.session)}.session.yaml
            </a>
          )}
        </li>
      ))}
    </ul>
  );
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
    // Another act may have been opened meanwhile.
    if (result.ok) setAsking((now) => (now === act ? undefined : now));
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
