/** The processes that work on this workspace, on this machine or on others. */
import type { JSX } from 'preact';
import type { Machines as Data } from '../../src/web/base/contract.ts';
import { hello, useRead } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Empty, Panel, Loaded, TaskLink } from '../parts.tsx';
import { agentText, duration, now, plural, visible } from '../text.ts';

export function Machines(): JSX.Element {
  const read = useRead<Data>('/api/machines', true);
  const { worker } = hello.value!;
  return (
    <div class="page">
      <div class="head">
        <h1>Machines</h1>
        <span class="meta">Which processes work on this workspace, and on what</span>
      </div>
      <Loaded read={read}>
        {({ machines }) =>
          machines.length === 0 ? (
            <Empty icon="term" title="No process works here">
              <code>guild watch</code> works until you stop it. Several can share one workspace.
            </Empty>
          ) : (
            <div class="stack">
              {machines.map((machine) => (
                <Panel
                  key={machine.id}
                  title={`${visible(machine.host)}, process ${machine.pid}`}
                  about={plural(machine.tasks.length, 'task')}
                  side={
                    <>
                      {worker !== null && 'pid' in worker && worker.pid === machine.pid && (
                        <span class="chip s-acc">started by this window</span>
                      )}
                      <span>{machine.isHere ? 'this machine' : 'another machine'}</span>
                      <span>for {duration(now.value - Date.parse(machine.since))}</span>
                    </>
                  }
                >
                  <ul class="list">
                    {machine.tasks.map((task) => (
                      <li key={task.id}>
                        <Icon name="run" small />
                        <b>{agentText(task.agent)}</b>
                        <TaskLink id={task.id} title={task.title} />
                      </li>
                    ))}
                    <li class="dim">
                      {machine.agents.length === 0
                        ? 'Hosts every agent of the workspace'
                        : `Hosts ${visible(machine.agents.join(', '))}`}
                    </li>
                  </ul>
                </Panel>
              ))}
            </div>
          )
        }
      </Loaded>
    </div>
  );
}
