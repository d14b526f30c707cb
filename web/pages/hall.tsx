/** The hall: what waits for you, who works on what, what it costs, and the last hour. */
import type { JSX } from 'preact';
import type { AgentNow, Hall as HallData, Request, TurnNow } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { limitWords, UseBar } from '../charts/budget-bar.tsx';
import { Icon } from '../icons.tsx';
import { moment } from '../moment.ts';
import {
  AgentChip,
  Empty,
  Figure,
  Loaded,
  NewTaskButton,
  Panel,
  ProblemBox,
  reason,
  TaskLink,
  TaskState,
} from '../parts.tsx';
import { ago, clock, count, duration, money, now, percent, plural, visible } from '../text.ts';
import { Lanes, Legend } from '../lanes.tsx';
import { RequestRow } from '../request/row.tsx';
import { lanesWithRunning } from '../tasks/running.ts';
import { turns } from '../turns.ts';

export function Hall(): JSX.Element {
  const read = useRead<HallData>('/api/hall');
  return (
    <div class="page">
      <div class="head">
        <h1>Hall</h1>
        <span class="meta">
          {new Date(now.value).toLocaleString('en-GB', {
            weekday: 'long',
            day: 'numeric',
            month: 'long',
            hour: '2-digit',
            minute: '2-digit',
          })}
        </span>
        <span class="grow" />
        <NewTaskButton />
      </div>
      <Loaded read={read}>{(hall) => <Filled hall={hall} />}</Loaded>
    </div>
  );
}

function Filled({ hall }: { hall: HallData }): JSX.Element {
  const { waiting, open, spend, deadlocks } = hall;
  const all = open.pending + open.active + open.waiting;
  return (
    <>
      <div class="figs">
        <Figure
          icon="you"
          name="Waiting for you"
          value={String(waiting.count)}
          about={
            waiting.oldestAt === undefined
              ? 'nothing'
              : `oldest ${ago(waiting.oldestAt)} · blocks ${plural(waiting.blocks, 'task')}`
          }
        />
        <Figure
          icon="run"
          name="Active"
          value={String(open.active)}
          unit={`of ${all} open`}
          about={`${open.waiting} waiting, ${open.pending} pending`}
        />
        <Figure
          icon="waits"
          name="Deadlocks"
          value={String(deadlocks.now)}
          unit="now"
          about={
            deadlocks.last === undefined
              ? 'none so far'
              : `${deadlocks.resolved} resolved, the last at ${clock(deadlocks.last).slice(0, 5)}`
          }
        />
        <Figure
          icon="costs"
          name="Spent today"
          value={money(spend.microUsd, spend.unpricedCalls)}
          about={[shareOf(spend), `${count(spend.tokens)} tokens`].filter(Boolean).join(' · ')}
        />
      </div>
      {hall.problems.map((each, i) => (
        <ProblemBox key={i} problem={each} />
      ))}
      <div class="hall">
        <div class="stack">
          <Waiting requests={waiting.first} all={waiting.count} />
          <Working agents={hall.agents} idle={hall.idle} />
        </div>
        <div class="stack">
          <Spending spend={spend} />
          <Pending pending={hall.pending} />
          <Ended rows={hall.ended} />
        </div>
      </div>
      <Panel title={lanesTitle(hall.lanesFrom)} side={<Legend />}>
        <Lanes
          lanes={moment.value === undefined ? lanesWithRunning(hall.lanes, turns.peek()) : hall.lanes}
          from={hall.lanesFrom}
        />
      </Panel>
    </>
  );
}

/** The server shows the last 5, 15 or 60 minutes. */
function lanesTitle(from: string): string {
  const minutes = Math.round((now.value - Date.parse(from)) / 60_000);
  return minutes > 30 ? 'Last hour' : `Last ${minutes} minutes`;
}

function shareOf({ microUsd, budget }: HallData['spend']): string {
  if (budget === undefined) return '';
  return `${percent(microUsd, budget.limit)} of ${money(budget.limit)}`;
}

function Waiting({ requests, all }: { requests: Request[]; all: number }): JSX.Element {
  return (
    <Panel
      title="Waiting for you"
      count={all}
      side={
        <a class="link" href="#/inbox">
          Open inbox <kbd>G</kbd> <kbd>I</kbd>
        </a>
      }
    >
      {requests.length === 0 ? (
        <p class="quiet">Nothing. Requests and questions of agents appear here.</p>
      ) : (
        requests.map((request) => <RequestRow key={request.id} request={request} />)
      )}
    </Panel>
  );
}

function Working({ agents, idle }: { agents: AgentNow[]; idle: number }): JSX.Element {
  const counted = (['error', 'working', 'blocked', 'paused', 'waiting'] as const).flatMap((state) => {
    const value = agents.filter((agent) => agent.state === state).length;
    const word = state === 'waiting' ? 'free' : state === 'error' && value > 1 ? 'errors' : state;
    return value === 0 ? [] : [`${value} ${word}`];
  });
  return (
    <Panel
      title="Working now"
      about={[...counted, ...(idle === 0 ? [] : [`${idle} idle`])].join(', ')}
      side={
        <a class="link" href="#/agents">
          All agents
        </a>
      }
    >
      {agents.length === 0 ? (
        <Empty icon="idle" title="Every agent is idle">
          Give one a task <kbd>C</kbd>, or drop a file into <code>tasks/pending/</code>.
        </Empty>
      ) : (
        <>
          <div class="row work thead">
            <span>State</span>
            <span>Agent, task and current step</span>
            <span class="num">Time</span>
            <span class="num">Tokens</span>
            <span class="num">Cost</span>
          </div>
          {agents.map((agent) => (
            <WorkRow key={agent.name} agent={agent} />
          ))}
        </>
      )}
    </Panel>
  );
}

function WorkRow({ agent }: { agent: AgentNow }): JSX.Element {
  const turn = turnOf(agent);
  const { task } = agent;
  const since = turn?.since ?? agent.since;
  return (
    <div class="row work">
      <AgentChip state={agent.state} />
      <div class="main">
        <div class="t">
          <b>{visible(agent.name)}</b>
          {task !== undefined && <TaskLink id={task.id} title={task.title} />}
        </div>
        <Doing agent={agent} turn={turn} />
      </div>
      <span class="num keep">{since === undefined ? '' : duration(now.value - Date.parse(since))}</span>
      <span class="num">{agent.tokens === 0 ? '' : count(agent.tokens)}</span>
      <span class="num">{agent.tokens === 0 ? '' : money(agent.microUsd)}</span>
    </div>
  );
}

function turnOf({ name, task }: AgentNow): TurnNow | undefined {
  if (moment.value !== undefined) return undefined;
  const mine = task === undefined ? undefined : turns.value.get(task.id);
  return mine ?? [...turns.value.values()].find(({ agent }) => agent === name);
}

/**
 * The agent's activity: words as they come, a tool with its argument, or the reason why it waits.
 */
function Doing({ agent: { why, state }, turn }: { agent: AgentNow; turn: TurnNow | undefined }): JSX.Element {
  if (turn?.tool !== undefined)
    return (
      <div class="w">
        <Icon name="term" small />
        <code class="one">
          {visible(turn.tool.name)} {visible(turn.tool.line ?? turn.tool.argument)}
        </code>
      </div>
    );
  if (turn !== undefined && turn.words !== '')
    return (
      <div class="w">
        <Icon name="model" small />
        <span class="one tail">
          <bdi>{visible(turn.words.slice(-WORDS_SHOWN)).replace(/\s+/g, ' ')}</bdi>
        </span>
        <span class="caret" />
      </div>
    );
  return (
    <div class="w">
      {state === 'blocked' && <Icon name="wait" small />}
      <span class="one">{turn === undefined ? reason({ why, state }) : 'the model is thinking'}</span>
    </div>
  );
}

/** Only the last words are shown: they are the new ones. */
const WORDS_SHOWN = 110;

function Spending({ spend }: { spend: HallData['spend'] }): JSX.Element {
  const most = Math.max(...spend.hours, 1);
  const step = 302 / spend.hours.length;
  const width = Math.min(19, step - 6);
  return (
    <Panel title="Spending today" side="by hour">
      <div class="b">
        <svg
          class="g bars"
          viewBox="0 0 302 60"
          role="img"
          aria-label={`Spending of the last ${spend.hours.length} hours`}
        >
          <line class="gl" x1="0" x2="302" y1="58.5" y2="58.5" />
          {spend.hours.map((value, i) => {
            const height = Math.max(value > 0 ? 2 : 0, (value / most) * 52);
            return (
              <rect
                key={i}
                x={i * step + (step - width) / 2}
                y={58 - height}
                width={width}
                height={height}
                rx="2"
                class={i === spend.hours.length - 1 ? 'now' : ''}
              />
            );
          })}
        </svg>
        <div class="split">
          <span class="dim">{new Date(spend.since).getHours()}:00</span>
          <span class="dim">now</span>
        </div>
        {spend.budget !== undefined && (
          <UseBar spent={spend.microUsd} reserved={spend.budget.reserved} limit={spend.budget.limit} />
        )}
        <div class="split sums" title={spend.budget === undefined ? undefined : limitWords(spend.budget)}>
          <span>
            <b>{money(spend.microUsd, spend.unpricedCalls)}</b>{' '}
            <span class="mid">{spend.budget === undefined ? 'today' : 'spent'}</span>
          </span>
          {spend.budget !== undefined && (
            <>
              <span class="mid">{money(spend.budget.reserved)} reserved</span>
              <span class="mid">{money(spend.budget.limit)} at most</span>
            </>
          )}
        </div>
        {spend.budget !== undefined && spend.budget.unlimited > 0 && (
          <p class="dim">{plural(spend.budget.unlimited, 'open task')} without a limit</p>
        )}
      </div>
    </Panel>
  );
}

function Pending({ pending }: { pending: HallData['pending'] }): JSX.Element {
  const most = Math.max(...pending.map((group) => group.count), 1);
  return (
    <Panel title="Pending" count={pending.reduce((sum, group) => sum + group.count, 0)} side="by agent">
      {pending.length === 0 ? (
        <p class="quiet">Every task has been taken.</p>
      ) : (
        <ul class="list">
          {pending.slice(0, 8).map((group) => (
            <li key={group.agent ?? ''}>
              <span class="name one">
                {group.agent === undefined ? <span class="mid">unassigned</span> : <b>{visible(group.agent)}</b>}
              </span>
              <meter class="bar" min={0} max={most} value={group.count} />
              <span class="r">
                {group.count}, oldest {ago(group.oldestAt)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Ended({ rows }: { rows: HallData['ended'] }): JSX.Element {
  return (
    <Panel title="Recently finished">
      {rows.length === 0 ? (
        <p class="quiet">No task has ended yet.</p>
      ) : (
        <ul class="list">
          {rows.map((row) => (
            <li key={row.id}>
              <TaskState row={row} plain />
              <TaskLink id={row.id} title={row.title} />
              <span class="r">{ago(row.endedAt ?? row.createdAt)}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
