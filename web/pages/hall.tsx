/** The hall: what waits for you, who works on what, what it costs, and the last hour. */
import type { JSX } from 'preact';
import type { AgentNow, Hall as HallData, Request } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Icon, type IconName } from '../icons.tsx';
import { AgentChip, Empty, Figure, Panel, ProblemBox, Still, Taint, TaskLink, TaskState } from '../parts.tsx';
import { address } from '../router.ts';
import { isAdding } from '../adding.ts';
import { ago, count, duration, money, now, plural, visible } from '../text.ts';
import { Lanes, Legend } from '../lanes.tsx';

export function Hall(): JSX.Element {
  const { data, problem } = useRead<HallData>('/api/hall');
  const hall = data.value;
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
        <button type="button" class="btn" onClick={() => (isAdding.value = true)}>
          <Icon name="plus" />
          New task <kbd>C</kbd>
        </button>
      </div>
      {problem.value !== undefined && <ProblemBox problem={problem.value} />}
      {hall === undefined ? <Still rows={8} /> : <Filled hall={hall} />}
    </div>
  );
}

function Filled({ hall }: { hall: HallData }): JSX.Element {
  const { waiting, open, spend, deadlocks } = hall;
  const all = open.pending + open.active + open.waiting;
  const last = deadlocks.at(-1);
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
          value={String(deadlocks.length)}
          unit="broken"
          about={last === undefined ? 'none so far' : `last ${ago(last.at)} ago`}
        />
        <Figure
          icon="costs"
          name="Spent today"
          value={money(spend.microUsd, spend.unpricedCalls)}
          about={`${count(spend.tokens)} tokens`}
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
      <Panel title="Last hour" side={<Legend />}>
        <Lanes lanes={hall.lanes} from={hall.lanesFrom} />
      </Panel>
    </>
  );
}

const REQUEST_ICONS: Record<Request['kind'], IconName> = {
  command: 'term',
  file: 'file',
  agent: 'robot',
  message: 'chat',
  plan: 'tasks',
  question: 'q',
  rule: 'shield',
  other: 'you',
};

export function requestIcon(request: Request): IconName {
  return REQUEST_ICONS[request.kind];
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
        <Empty icon="inbox" title="Nothing waits for you">
          Requests and questions of agents appear here.
        </Empty>
      ) : (
        requests.map((request) => (
          <a key={request.id} class="row ask" href={address('inbox', request.id)}>
            <span class="s-you ic">
              <Icon name={requestIcon(request)} />
            </span>
            <span class="main">
              <span class="t one">{visible(request.title)}</span>
              <span class="m">
                <b>{visible(request.agent)}</b> {ago(request.createdAt)}
                <Taint sources={request.taint} />
              </span>
            </span>
            <span class="btn sm">Review</span>
          </a>
        ))
      )}
    </Panel>
  );
}

function Working({ agents, idle }: { agents: AgentNow[]; idle: number }): JSX.Element {
  return (
    <Panel
      title="Working now"
      count={agents.length}
      side={
        <a class="link" href="#/agents">
          {idle === 0 ? 'All agents' : `${idle} idle`}
        </a>
      }
    >
      {agents.length === 0 ? (
        <Empty icon="idle" title="Every agent is idle">
          Give one a task with <kbd>C</kbd>, or drop a file into <code>tasks/pending/</code>.
        </Empty>
      ) : (
        agents.map((agent) => (
          <div key={agent.name} class="row work">
            <AgentChip state={agent.state} />
            <div class="main">
              <div class="t">
                <b>{visible(agent.name)}</b>
                {agent.task !== undefined && <TaskLink id={agent.task.id} title={agent.task.title} />}
              </div>
              <div class="w one">{visible(agent.step?.words ?? agent.step?.tool ?? agent.why)}</div>
            </div>
            <span class="num keep">
              {agent.since === undefined ? '' : duration(now.value - Date.parse(agent.since))}
            </span>
            <span class="num">{count(agent.tokens)}</span>
            <span class="num">{money(agent.microUsd)}</span>
          </div>
        ))
      )}
    </Panel>
  );
}

function Spending({ spend }: { spend: HallData['spend'] }): JSX.Element {
  const most = Math.max(...spend.hours, 1);
  return (
    <Panel title="Spending" side="by hour">
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
                x={2 + i * 25}
                y={58 - height}
                width="19"
                height={height}
                rx="2"
                class={i === spend.hours.length - 1 ? 'now' : ''}
              />
            );
          })}
        </svg>
        <div class="split">
          <span class="dim">{new Date(spend.since).getHours()}:00</span>
          <span>
            <b>{money(spend.microUsd, spend.unpricedCalls)}</b> <span class="mid">today</span>
          </span>
          <span class="dim">now</span>
        </div>
      </div>
    </Panel>
  );
}

function Pending({ pending }: { pending: HallData['pending'] }): JSX.Element {
  const most = Math.max(...pending.map((group) => group.count), 1);
  return (
    <Panel title="Pending" count={pending.reduce((sum, group) => sum + group.count, 0)} side="by agent">
      {pending.length === 0 ? (
        <Empty icon="pending" title="No task is pending" />
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
        <Empty icon="done" title="No task has ended yet" />
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
