/** One task: what it cost, what happened when, its answer, and what you can do with it. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { TaskDetail, TreeRow, TurnNow } from '../../src/web/base/contract.ts';
import { isExported, useRead } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Legend } from '../lanes.tsx';
import { Markdown } from '../markdown.tsx';
import { moment } from '../moment.ts';
import { Figure, Id, LoadedPage, Panel, ProblemBox, Segments, Taint, TaskLink, TaskState } from '../parts.tsx';
import { address } from '../router.ts';
import { agentText, capitalized, count, duration, money, now, plural, visible } from '../text.ts';
import { Acts } from '../tasks/acts.tsx';
import { CostTree } from '../tasks/cost-tree.tsx';
import { withRunning } from '../tasks/running.ts';
import { turns } from '../turns.ts';
import { Waterfall } from '../tasks/waterfall.tsx';
import { WhyView } from '../tasks/why.tsx';
import { WholeText } from '../whole-text.tsx';

const VIEWS = ['Waterfall', 'Tree', 'Why', 'Files'] as const;
type View = (typeof VIEWS)[number];

export function Task({ id }: { id: string }): JSX.Element {
  const read = useRead<TaskDetail>(`/api/tasks/${encodeURIComponent(id)}`);
  return <LoadedPage read={read}>{(task) => <Shown task={task} />}</LoadedPage>;
}

function Shown({ task }: { task: TaskDetail }): JSX.Element {
  const [view, setView] = useState<View>('Waterfall');
  const [chosen, setChosen] = useState(0);
  const { row, usage } = task;
  const session = task.tree[0]?.session;
  const end = row.endedAt === undefined ? now.value : Date.parse(row.endedAt);
  const running = row.endedAt === undefined && moment.value === undefined ? turns.peek() : NONE;
  // Words come many times a second; the bars follow the clock.
  const rows = useMemo(() => withRunning(task.tree, running), [task.tree, running, now.value]);
  return (
    <div class="page">
      <div class="crumb">
        {isExported() ? (
          'Tasks'
        ) : (
          <a class="link" href="#/tasks">
            Tasks
          </a>
        )}
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
        {!isExported() && session !== undefined && (
          <a class="btn" href={address('conversation', session)}>
            <Icon name="chat" /> Conversation
          </a>
        )}
        {!isExported() && (
          <a class="btn" href={address('replay', row.id)}>
            <Icon name="replay" /> Replay
          </a>
        )}
        <Acts task={task} />
      </div>
      <div class="figs">
        <Figure
          icon="history"
          name="Duration"
          value={duration(end - Date.parse(row.createdAt))}
          about={row.agent === undefined ? 'nobody has it yet' : `by ${agentText(row.agent)}`}
        />
        <Figure
          icon="costs"
          name="Cost"
          value={money(usage.microUsd)}
          about={sharesOf(task.tree) || (usage.turns === 0 ? 'no answer from a model yet' : 'with everything below it')}
        />
        <Figure
          icon="model"
          name="Tokens"
          value={count(usage.inputTokens + usage.outputTokens)}
          about={`${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out, ${plural(usage.turns, 'turn')}`}
        />
        <Figure
          icon="done"
          tone={task.certificate === undefined ? undefined : 's-done'}
          name="Completion"
          value={completion(task)}
          about={task.certificate ?? task.place}
        />
      </div>
      {task.error !== undefined && <ProblemBox problem={task.error} />}
      <section class="panel">
        <header>
          <h2>Run</h2>
          <Segments label="View" of={VIEWS.map(capitalized)} chosen={view} choose={setView} />
          {view === 'Waterfall' && (
            <span class="r">
              <Legend />
            </span>
          )}
        </header>
        {view === 'Waterfall' && (
          <Waterfall rows={rows} chosen={chosen} choose={setChosen} mergedOf={task.isMerged ? row.id : undefined} />
        )}
        {view === 'Tree' && <CostTree rows={task.tree} chosen={chosen} choose={setChosen} />}
        {view === 'Why' && <WhyView id={row.id} />}
        {view === 'Files' && <Files task={task} />}
      </section>
      <div class="taskgrid">
        <Panel title={task.result === undefined ? 'Request' : 'Answer'} side={<code>{task.place}</code>}>
          <div class="b">
            <Markdown text={task.result ?? task.description} links={task.taint.length === 0} />
            <WholeText of={`tasks/${encodeURIComponent(row.id)}`} text={task.result} />
          </div>
        </Panel>
        <Selected row={task.tree[chosen]} />
      </div>
    </div>
  );
}

const NONE = new Map<string, TurnNow>();

function completion({ certificate, row }: TaskDetail): string {
  if (certificate !== undefined) return 'Certified';
  return row.endedAt === undefined ? 'Open' : row.state === 'failed' ? 'Not done' : 'Ended';
}

/** The files of the run: each task, its conversation and its result. */
function Files({ task }: { task: TaskDetail }): JSX.Element {
  return (
    <ul class="list files">
      {task.tree.map((row) =>
        row.isGroup === true ? null : (
          <li key={row.id}>
            <TaskState row={row} plain brief />
            <span class="main">
              <TaskLink id={row.id} title={row.title} />
              <code class="one">
                {row.endedAt === undefined ? `tasks/${row.state}/${row.id}.json` : `results/${row.id}.md`}
              </code>
              {row.session !== undefined && <code class="one">sessions/{visible(row.session)}.session.yaml</code>}
            </span>
            {row.session !== undefined && (
              <a class="btn sm r" href={address('conversation', row.session)}>
                Conversation
              </a>
            )}
          </li>
        ),
      )}
    </ul>
  );
}

function Selected({ row }: { row: TreeRow | undefined }): JSX.Element | null {
  if (row === undefined) return null;
  const models = [...new Set(row.spans.flatMap((span) => span.model ?? []))];
  const tools = row.spans.filter((span) => span.kind === 'tool');
  return (
    <Panel
      title="Selected"
      side={
        <span class="wideonly">
          <kbd>Enter</kbd> to open
        </span>
      }
    >
      <div class="b">
        <b>{visible(row.title)}</b>
        <div class="srow">
          <span class="mid">Agent</span>
          <span>{row.agent === undefined ? 'nobody yet' : agentText(row.agent)}</span>
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

/** The two models with the largest shares of the cost, and their shares. */
function sharesOf(tree: readonly TreeRow[]): string {
  const sums = new Map<string, number>();
  for (const { spans } of tree)
    for (const { model, microUsd = 0 } of spans)
      if (model !== undefined) sums.set(model, (sums.get(model) ?? 0) + microUsd);
  const total = [...sums.values()].reduce((sum, value) => sum + value, 0);
  if (total === 0) return '';
  return [...sums]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 2)
    .map(([model, value]) => `${Math.round((value / total) * 100)}% ${visible(model)}`)
    .join(', ');
}
