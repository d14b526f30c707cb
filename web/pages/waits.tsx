/** Who waits for whom. A cycle is drawn in red, and every deadlock that was broken is explained. */
import type { JSX } from 'preact';
import type { Waits } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Graph } from '../graph.tsx';
import { Icon } from '../icons.tsx';
import { Empty, Panel, ProblemBox, Still } from '../parts.tsx';
import { address, go } from '../router.ts';
import { ago, visible } from '../text.ts';

export function WaitGraph(): JSX.Element {
  const { data, problem } = useRead<Waits>('/api/waits');
  const waits = data.value;
  return (
    <div class="page">
      <div class="head">
        <h1>Wait graph</h1>
      </div>
      {problem.value !== undefined && <ProblemBox problem={problem.value} />}
      {waits === undefined ? <Still rows={6} /> : <Shown waits={waits} />}
    </div>
  );
}

function Shown({ waits }: { waits: Waits }): JSX.Element {
  const kinds = new Map(waits.nodes.map(({ id, kind }) => [id, kind]));
  const open = (id: string): void => {
    if (kinds.get(id) === 'task') go(address('task', id));
    if (kinds.get(id) === 'human') go('#/inbox');
  };
  return (
    <>
      {waits.broken.map(({ at, cycle, victim, rule }) => (
        <div key={at} class="banner s-wait">
          <Icon name="cut" />
          <div class="x">
            <b>
              A deadlock was broken {ago(at)} ago: {visible(victim)} gave way
            </b>
            <small>
              {visible(cycle.join(' → '))}. {visible(rule)}
            </small>
          </div>
        </div>
      ))}
      <Panel title="Now" count={waits.edges.length}>
        {waits.edges.length === 0 ? (
          <Empty icon="waits" title="Nobody waits for anybody">
            Tasks that wait for tasks, agents, resources, budgets or you appear here.
          </Empty>
        ) : (
          <Graph
            nodes={waits.nodes.map(({ id, kind, title }) => ({ id, kind, title, about: kind === 'task' ? id : kind }))}
            edges={waits.edges.map(({ from, to, inCycle }) => ({ from, to, label: 'waits for', isBad: inCycle }))}
            open={open}
          />
        )}
      </Panel>
    </>
  );
}
