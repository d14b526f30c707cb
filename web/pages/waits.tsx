/** Who waits for whom. A cycle is drawn in red, and every deadlock that was broken is explained. */
import type { JSX } from 'preact';
import type { BrokenCycle, Waits } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Graph } from '../graph/graph.tsx';
import { Icon, type IconName } from '../icons.tsx';
import { moment, showMoment, showNow, type Range } from '../moment.ts';
import { Empty, Loaded, Panel, TaskLink, taskLook, type Look } from '../parts.tsx';
import { address, go } from '../router.ts';
import { agentText, ago, clock, duration, plural, visible } from '../text.ts';

type Node = Waits['nodes'][number];
type Priority = NonNullable<BrokenCycle['cycle'][number]['priority']>;

export function WaitGraph(): JSX.Element {
  const read = useRead<Waits>('/api/waits');
  const [last] = read.data.value?.broken ?? [];
  return (
    <div class="page">
      <div class="head">
        <h1>Wait graph</h1>
        <span class="meta">Who is waiting for whom, and for what</span>
        <span class="grow" />
        {last !== undefined && <When broken={last} />}
      </div>
      <Loaded read={read} rows={6}>
        {(waits) => <Shown waits={waits} />}
      </Loaded>
    </div>
  );
}

/** The moment of a deadlock, from its first wait until it was broken, or now. */
function rangeOf(broken: BrokenCycle): Range {
  const times = [...broken.cycle.flatMap(({ since }) => since ?? []), broken.closedAt].map((at) => Date.parse(at));
  const stops = [...new Set([...times, Date.parse(broken.at) + 1])].sort((a, b) => a - b);
  return { title: 'Deadlock', href: '#/waits', from: stops[0]! - 1, to: stops.at(-1)!, stops };
}

function When({ broken }: { broken: BrokenCycle }): JSX.Element {
  const closed = Date.parse(broken.closedAt);
  const here = rangeOf(broken);
  return (
    <>
      <span class="seg" role="group" aria-label="Which moment">
        <button type="button" aria-pressed={moment.value === closed} onClick={() => showMoment(closed, here)}>
          {clock(broken.closedAt)}
        </button>
        <button type="button" aria-pressed={moment.value === undefined} onClick={showNow}>
          Now
        </button>
      </span>
      <button type="button" class="btn" onClick={() => showMoment(here.from, here)}>
        <Icon name="replay" small /> Step through
      </button>
    </>
  );
}

function Shown({ waits }: { waits: Waits }): JSX.Element {
  const nodes = new Map(waits.nodes.map((node) => [node.id, node]));
  const cyclic = new Set(waits.edges.flatMap((edge) => (edge.inCycle ? [edge.from, edge.to] : [])));
  const open = (id: string): void => {
    const kind = nodes.get(id)?.kind;
    if (nodes.get(id)?.agent === 'human') go(address('inbox', id));
    else if (kind === 'task') go(address('task', id));
  };
  const [last, ...earlier] = waits.broken;
  const cycle = last?.cycle ?? [];
  const gaveWay = new Set(cycle.flatMap((each) => (each.gaveWay ? [each.id] : [])));
  return (
    <>
      {cyclic.size > 0 && moment.value === undefined && <LiveBanner size={cyclic.size} />}
      {last !== undefined && <BrokenBanner broken={last} />}
      <div class="graph waitgraph">
        <Panel title="Waits" about={plural(waits.edges.length, 'wait')} side={<EdgeLegend />}>
          {waits.edges.length === 0 ? (
            <Empty icon="waits" title={moment.value === undefined ? 'Nobody waits for anybody' : 'Nobody waited then'}>
              Tasks that wait for tasks, agents, resources, budgets or you appear here.
            </Empty>
          ) : (
            <Graph
              nodes={waits.nodes.map(({ id, kind, title, agent, state }) => ({
                id,
                kind: cyclic.has(id) ? `${kind} cyc` : agent === 'human' ? 'human' : kind,
                title: kind === 'human' ? 'You' : title,
                about: kind !== 'task' ? kind : agent === undefined ? 'nobody yet' : agentText(agent),
                hasLookLast: true,
                ...(state === undefined
                  ? {}
                  : {
                      look:
                        cyclic.has(id) && gaveWay.has(id)
                          ? GAVE_WAY
                          : taskLook({ state, ...(agent === undefined ? {} : { agent }) }),
                    }),
              }))}
              edges={waits.edges.map(({ from, to, inCycle, label, need }) => ({
                from,
                to,
                label: inCycle && stepOf(cycle, from) > 0 ? `${stepOf(cycle, from)} ${label}` : label,
                ...(need === undefined ? {} : { note: need }),
                isBad: inCycle,
                isCut: inCycle && gaveWay.has(from),
              }))}
              boxPx={196}
              open={open}
              hasList={false}
            />
          )}
        </Panel>
        <div class="stack">
          {last !== undefined && <InWords broken={last} />}
          <Longest waits={waits} nodes={nodes} />
          {earlier.length > 0 && <Earlier broken={earlier} />}
        </div>
      </div>
      {waits.edges.length > 0 && (
        <Panel title="As a list" count={waits.edges.length}>
          <EdgeTable waits={waits} nodes={nodes} cycle={cycle} />
        </Panel>
      )}
    </>
  );
}

type Cycle = BrokenCycle['cycle'];

/** Counted from 1; 0 if the task is not part of it. */
function stepOf(cycle: Cycle, task: string): number {
  return cycle.findIndex(({ id }) => id === task) + 1;
}

const GAVE_WAY: Look = { word: 'Gave way', icon: 'cut', tone: 's-fail' };

function EdgeLegend(): JSX.Element {
  return (
    <span class="legend">
      <span>
        <i class="ln" /> waits for
      </span>
      <span>
        <i class="ln bad" /> in a cycle
      </span>
      <span>
        <i class="ln bad gave" /> gave way
      </span>
    </span>
  );
}

function loserOf({ cycle }: BrokenCycle): BrokenCycle['cycle'][number] | undefined {
  return cycle.find(({ gaveWay }) => gaveWay) ?? cycle[0];
}

function LiveBanner({ size }: { size: number }): JSX.Element {
  return (
    <div class="banner s-fail" role="status">
      <Icon name="cut" />
      <div class="x">
        <b>Deadlock of {size}.</b> Each of these tasks waits for the next, so none can continue.
        <small>One of them is told to continue without what it waits for: the one with the lowest priority.</small>
      </div>
    </div>
  );
}

function BrokenBanner({ broken }: { broken: BrokenCycle }): JSX.Element {
  const loser = loserOf(broken);
  const ms = Date.parse(broken.at) - Date.parse(broken.closedAt);
  return (
    <div class="banner s-fail">
      <Icon name="cut" />
      <div class="x">
        <b>Deadlock of {broken.cycle.length} found and resolved.</b> “{visible(loser?.title ?? '')}” gave way at{' '}
        {clock(broken.at)}, {duration(ms)} after the last wait appeared.
        <small>Rule: {visible(broken.rule)}</small>
      </div>
      {loser !== undefined && (
        <a class="btn sm" href={address('task', loser.id)}>
          Open
        </a>
      )}
    </div>
  );
}

function InWords({ broken }: { broken: BrokenCycle }): JSX.Element {
  return (
    <Panel title="The cycle in words" side={`at ${clock(broken.at)}`}>
      <div class="b words">
        {broken.cycle.map(({ id, title, agent, label, need, priority, gaveWay }, i) => {
          const next = broken.cycle[(i + 1) % broken.cycle.length]!;
          return (
            <p key={id}>
              <b>{agent === undefined ? visible(title) : agentText(agent)}</b> works on “{visible(title)}” and {label}{' '}
              {need === undefined ? '' : 'from '}
              <b>{next.agent === undefined ? visible(next.title) : agentText(next.agent)}</b>
              {need === undefined ? '' : `: ${visible(need).replace(/\.$/, '')}`}.{' '}
              {priority !== undefined && <PriorityChip priority={priority} />}{' '}
              {gaveWay && (
                <span class="chip s-fail">
                  <Icon name="cut" /> Gave way
                </span>
              )}
            </p>
          );
        })}
      </div>
    </Panel>
  );
}

const PRIORITIES: Record<Priority, string> = { A: 'Critical', B: 'High', C: 'Normal', D: 'Low' };

function PriorityChip({ priority }: { priority: Priority }): JSX.Element {
  const isRaised = priority === 'A' || priority === 'B';
  return (
    <span class={isRaised ? 'chip s-wait' : 'chip s-off'} title={`Priority ${priority}`}>
      {isRaised && <Icon name="warn" />}
      {PRIORITIES[priority]}
    </span>
  );
}

const KINDS: Record<Node['kind'], { word: string; icon: IconName }> = {
  task: { word: 'Task', icon: 'tasks' },
  agent: { word: 'Agent', icon: 'agents' },
  resource: { word: 'Resource', icon: 'wait' },
  conversation: { word: 'Conversation', icon: 'chat' },
  human: { word: 'You', icon: 'you' },
  budget: { word: 'Budget', icon: 'costs' },
};

interface Part {
  waits: Waits;
  nodes: ReadonlyMap<string, Node>;
}

/** A request for the person is a task; it still waits for you. */
function kindOf(node: Node | undefined): { word: string; icon: IconName } {
  return node?.agent === 'human' ? KINDS.human : KINDS[node?.kind ?? 'task'];
}

function Longest({ waits, nodes }: Part): JSX.Element | null {
  const longest = [...waits.edges]
    .filter(({ since }) => since !== undefined)
    .sort((a, b) => (a.since! < b.since! ? -1 : 1))
    .slice(0, 5);
  if (longest.length === 0) return null;
  return (
    <Panel title={moment.value === undefined ? 'Longest waits now' : 'Longest waits then'}>
      <ul class="list">
        {longest.map(({ from, to, since }) => {
          const { word, icon } = kindOf(nodes.get(to));
          return (
            <li key={`${from} ${to}`}>
              <span class={word === 'You' ? 'chip plain s-you' : 'chip plain s-wait'}>
                <Icon name={icon} /> {word}
              </span>
              <span class="one">{visible(nodes.get(from)?.title ?? from)}</span>
              <span class="r">{ago(since!)}</span>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

function Earlier({ broken }: { broken: BrokenCycle[] }): JSX.Element {
  return (
    <Panel title="Earlier deadlocks" count={broken.length}>
      <ul class="list">
        {broken.map((each) => (
          <li key={each.at}>
            <Icon name="cut" small />
            <button type="button" class="link one" onClick={() => showMoment(Date.parse(each.closedAt), rangeOf(each))}>
              {visible(loserOf(each)?.title ?? '')}
            </button>
            <span class="r">{ago(each.at)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function EdgeTable({ waits, nodes, cycle }: Part & { cycle: Cycle }): JSX.Element {
  const hasCycle = waits.edges.some(({ inCycle }) => inCycle);
  return (
    <div class="scrollx" role="region" tabIndex={0} aria-label="Waits as a list">
      <table class="tt waits">
        <thead>
          <tr>
            <th>Waits for</th>
            <th>Who</th>
            <th>What</th>
            <th>Why</th>
            <th>From</th>
            {hasCycle && <th>Cycle</th>}
            <th class="num">Since</th>
          </tr>
        </thead>
        <tbody>
          {waits.edges.map(({ from, to, inCycle, label, need, since }) => {
            const [waiting, held] = [nodes.get(from), nodes.get(to)];
            const { word, icon } = kindOf(held);
            const step = inCycle ? stepOf(cycle, from) : 0;
            const isCut = step > 0 && cycle[step - 1]!.gaveWay;
            const tone = inCycle ? 's-fail' : word === 'You' ? 's-you' : 's-wait';
            return (
              <tr key={`${from} ${to}`}>
                <td>
                  <span class={`chip plain ${tone}`}>
                    <Icon name={isCut ? 'cut' : icon} /> {word}
                  </span>
                </td>
                <td>
                  <b>{visible(waiting?.agent === 'human' ? 'you' : (waiting?.agent ?? ''))}</b>
                </td>
                <td class="title">
                  {waiting?.kind === 'task' ? (
                    <TaskLink id={from} title={waiting.title} />
                  ) : (
                    visible(waiting?.title ?? from)
                  )}
                </td>
                <td class="from" title={visible(need ?? '')}>
                  {label}
                  {need === undefined ? '' : `: ${visible(need)}`}
                </td>
                <td class="from">{held?.agent === undefined ? visible(held?.title ?? to) : agentText(held.agent)}</td>
                {hasCycle && (
                  <td class="from">
                    {!inCycle ? '' : step === 0 ? 'yes' : `${step} of ${cycle.length}${isCut ? ', gave way' : ''}`}
                  </td>
                )}
                <td class="num">{since === undefined ? '' : ago(since)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
