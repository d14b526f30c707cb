/** Agents: who they are, what they do now, what they cost, and how they work together. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AgentFile, AgentList, AgentRow } from '../../src/web/base/contract.ts';
import { addingFor, isAdding } from '../adding.ts';
import { BidList } from '../agents/bid-list.tsx';
import { LastValid } from '../agents/last-valid.tsx';
import { send, useRead, type Sent } from '../api.ts';
import { Ask } from '../ask.tsx';
import { AgentText, NewAgent } from '../editor/agent-text.tsx';
import { Graph } from '../graph/graph.tsx';
import { Icon } from '../icons.tsx';
import {
  ActButton,
  AgentChip,
  agentLook,
  Empty,
  LoadedPage,
  Panel,
  ProblemBox,
  reason,
  Refused,
  Segments,
} from '../parts.tsx';
import { address, go, isNarrow, useBroughtTo } from '../router.ts';
import { capitalized, count, money, plural, visible } from '../text.ts';

const PATTERNS: Record<string, string> = {
  advisor: 'asks first',
  member: 'member',
  route: 'routes to',
  fallback: 'routes to',
  handoff: 'hands to',
  delegates: 'delegates',
};

/** An idle agent needs no explanation. */
const AT_REST: ReadonlySet<AgentRow['state']> = new Set(['idle', 'complete']);

const VIEWS = ['List', 'Graph', 'Bids'] as const;
type View = (typeof VIEWS)[number];

export function Agents({ name }: { name: string }): JSX.Element {
  const read = useRead<AgentList>('/api/agents');
  return <LoadedPage read={read}>{(list) => <Filled name={name} list={list} />}</LoadedPage>;
}

function Filled({ name, list }: { name: string; list: AgentList }): JSX.Element {
  const [view, setView] = useState<View>('List');
  const [isNew, setNew] = useState(false);
  const chosen = list.agents.find((agent) => agent.name === name) ?? list.agents[0];
  useEffect(() => {
    // Runs after the frame has scrolled to the top, as it does for every page.
    if (!isNarrow.matches)
      requestAnimationFrame(() => document.getElementById('chosen')?.scrollIntoView({ block: 'nearest' }));
  }, [view, name]);
  return (
    <div class="page">
      <div class="head">
        <h1>Agents</h1>
        <span class="meta">{list.agents.length} in this workspace</span>
        <Segments label="View" of={VIEWS.map(capitalized)} chosen={view} choose={setView} />
        <span class="grow" />
        <ActButton class="btn" onClick={() => setNew(true)}>
          <Icon name="plus" /> New agent
        </ActButton>
        {isNew && <NewAgent close={() => setNew(false)} />}
      </div>
      {list.problems.map((each, i) => {
        // The inspector shows the problems of the chosen agent.
        const isShown = each.where?.file !== undefined && each.where.file === chosen?.file;
        return isShown ? null : <ProblemBox key={i} problem={each} />;
      })}
      {list.agents.length === 0 ? (
        <Empty icon="agents" title="No agents yet">
          An agent is a Markdown file in <code>agents/</code>: <code>guild agent new NAME</code> makes one.
        </Empty>
      ) : (
        <div class="graph">
          {view === 'Bids' && <BidList />}
          {view === 'Graph' && (
            <Panel title="Who works with whom" side={list.edges.length === 0 ? undefined : <Alone list={list} />}>
              {list.edges.length === 0 ? (
                <Empty icon="agents" title="No agent has a fixed partner">
                  Advisors, routes, handoffs, teams and delegates that an agent’s file names appear here.
                </Empty>
              ) : (
                <Graph
                  nodes={connected(list).map(({ name: id, state, microUsd, calls }) => ({
                    id,
                    title: id,
                    about: calls === 0 ? 'no work yet' : money(microUsd),
                    look: agentLook(state),
                    kind: `agent ${state}`,
                    isChosen: id === chosen?.name,
                  }))}
                  edges={list.edges.map(({ from, to, pattern }) => ({
                    from,
                    to,
                    label: PATTERNS[pattern] ?? pattern,
                    isBad: false,
                  }))}
                  groups={list.teams.map(({ lead, members, ends, rounds }) => ({
                    id: lead,
                    members,
                    label: `team: ${ends}`,
                    about: `at most ${plural(rounds, 'round')}`,
                  }))}
                  boxPx={120}
                  open={(id) => go(address('agents', id))}
                />
              )}
            </Panel>
          )}
          {view === 'List' && (
            <section class="panel">
              <div class="row arow thead" aria-hidden="true">
                <span>State</span>
                <span>Agent</span>
                <span class="num">Calls</span>
                <span class="num">Cost</span>
              </div>
              {list.agents.map((agent) => (
                <a
                  key={agent.name}
                  id={agent === chosen ? 'chosen' : undefined}
                  class={agent === chosen ? 'row arow on' : 'row arow'}
                  href={address('agents', agent.name)}
                >
                  <AgentChip state={agent.state} />
                  <span class="main">
                    <b>
                      {visible(agent.name)} {agent.isOnProbation === true && <Probation />}
                    </b>
                    <span class="mid one">{visible(agent.description)}</span>
                    {!AT_REST.has(agent.state) && <span class="w one">{reason(agent)}</span>}
                  </span>
                  <span class="num">{agent.calls === 0 ? '' : count(agent.calls)}</span>
                  <span class="num">{agent.calls === 0 ? '' : money(agent.microUsd)}</span>
                </a>
              ))}
            </section>
          )}
          {chosen !== undefined && <Inspector key={chosen.name} agent={chosen} isAsked={chosen.name === name} />}
        </div>
      )}
    </div>
  );
}

/** An agent without fixed partners is left out of the graph. */
function connected({ agents, edges }: AgentList): AgentRow[] {
  const named = new Set(edges.flatMap(({ from, to }) => [from, to]));
  return agents.filter(({ name }) => named.has(name));
}

function Alone({ list }: { list: AgentList }): JSX.Element | null {
  const alone = list.agents.length - connected(list).length;
  return alone === 0 ? null : <>{plural(alone, 'agent')} without a fixed partner: see List</>;
}

function Probation(): JSX.Element {
  return (
    <span class="chip s-check" title="It is new: its results are checked, and it is retired if they are rejected">
      On probation
    </span>
  );
}

function Inspector({ agent, isAsked }: { agent: AgentRow; isAsked: boolean }): JSX.Element {
  const place = useBroughtTo(isAsked);
  const { data } = useRead<AgentFile>(`/api/agents/${encodeURIComponent(agent.name)}`);
  const [isPausing, setPausing] = useState(false);
  const [sent, setSent] = useState<Sent>();
  const pause = async (reason: string): Promise<void> => {
    setSent(await send('agent.pause', agent.name, { reason }));
    setPausing(false);
  };
  return (
    <div class="beside" ref={place}>
      <Panel
        title={agent.name}
        side={
          <>
            <AgentChip state={agent.state} />
            <ActButton class="btn sm" onClick={() => ((addingFor.value = agent.name), (isAdding.value = true))}>
              <Icon name="chat" small /> Talk
            </ActButton>
            {agent.paused === undefined ? (
              <ActButton class="btn sm" onClick={() => setPausing(true)}>
                Pause…
              </ActButton>
            ) : (
              <ActButton class="btn sm" onClick={() => void send('agent.resume', agent.name).then(setSent)}>
                Resume
              </ActButton>
            )}
          </>
        }
      >
        <div class="b">
          <p class="lead">
            {visible(agent.description)} {agent.isOnProbation === true && <Probation />}
          </p>
          <Refused sent={sent} />
          {data.value === undefined && agent.problem !== undefined && <ProblemBox problem={agent.problem} />}
          {data.value?.problems.map((each, i) => (
            <ProblemBox key={i} problem={each} />
          ))}
          <div class="srow">
            <span class="mid">Validation</span>
            {agent.problem === undefined && data.value?.problems.length === 0 ? (
              <span class="chip plain s-done">
                <Icon name="done" /> No problems
              </span>
            ) : (
              <span>
                {agent.problem === undefined ? plural(data.value?.problems.length ?? 0, 'problem') : 'not valid'}
              </span>
            )}
          </div>
          <div class="srow">
            <span class="mid">Model</span>
            <span>{visible(agent.model) || 'the default of guild.yaml'}</span>
          </div>
          <div class="srow">
            <span class="mid">Track record</span>
            <span>
              {agent.record.done + agent.record.failed === 0
                ? 'no task has ended yet'
                : `${agent.record.done} of ${agent.record.done + agent.record.failed} succeeded`}
            </span>
          </div>
          <div class="srow">
            <span class="mid">Bids</span>
            <span>{agent.bids.made === 0 ? 'none yet' : `${agent.bids.won} of ${agent.bids.made} won`}</span>
          </div>
          <div class="srow">
            <span class="mid">Cost</span>
            <span>
              {plural(agent.calls, 'call')}, {money(agent.microUsd)}
            </span>
          </div>
          <div class="srow">
            <span class="mid">Tools</span>
            <span>{visible(agent.tools.join(', ')) || 'none'}</span>
          </div>
          {agent.capabilities.length > 0 && (
            <div class="srow">
              <span class="mid">Capabilities</span>
              <span>{visible(agent.capabilities.join(', '))}</span>
            </div>
          )}
          {agent.problem !== undefined && data.value !== undefined && <LastValid file={data.value} />}
          {data.value !== undefined && <AgentText key={data.value.name} file={data.value} />}
        </div>
        {isPausing && (
          <Ask
            title="Pause…"
            label="Why? It takes no task until you resume it."
            close={() => setPausing(false)}
            done={pause}
          />
        )}
      </Panel>
    </div>
  );
}
