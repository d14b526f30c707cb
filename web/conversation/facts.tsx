/** Beside a conversation: its task, agent, cost, forks and file. */
import type { JSX } from 'preact';
import type { Conversation } from '../../src/web/base/contract.ts';
import { hello, isExported } from '../api.ts';
import { UseBar } from '../charts/budget-bar.tsx';
import { Icon } from '../icons.tsx';
import { AgentChip, reason, Taint, TaskLink } from '../parts.tsx';
import { address } from '../router.ts';
import { count, money, percent, plural, visible } from '../text.ts';

/** `close`: on a narrow screen the facts cover the conversation. */
export function Facts({ talk, close }: { talk: Conversation; close: () => void }): JSX.Element {
  const { usage, task, forkedFrom } = talk;
  const origin = forkedFrom?.replace(/@\d+$/, '');
  return (
    <aside class="facts">
      <button type="button" class="btn sm narrowonly" onClick={close}>
        Close
      </button>
      <dl>
        {task !== undefined && (
          <div>
            <dt>
              <Icon name="tasks" small /> Task
            </dt>
            <dd>
              <TaskLink id={task.id} title={task.title} />
            </dd>
          </div>
        )}
        <div>
          <dt>
            <Icon name="agents" small /> Agent
          </dt>
          <dd>
            <div class="split">
              {isExported() ? (
                <b class="one">{visible(talk.agent)}</b>
              ) : (
                <a class="link one" href={address('agents', talk.agent)}>
                  {visible(talk.agent)}
                </a>
              )}
              {talk.agentNow !== undefined && <AgentChip state={talk.agentNow.state} />}
            </div>
            {talk.agentNow !== undefined && (
              <>
                <small>{reason(talk.agentNow)}</small>
                <small>{visible(talk.agentNow.description)}</small>
              </>
            )}
            {talk.model !== undefined && <small>{visible(talk.model)}</small>}
          </dd>
        </div>
        <div>
          <dt>
            <Icon name="costs" small /> Cost
          </dt>
          <dd>
            {money(usage.microUsd)}
            <small>
              {plural(usage.turns, 'turn')}, {count(usage.inputTokens)} in, {count(usage.outputTokens)} out
            </small>
            {talk.share !== undefined && (
              <>
                <UseBar spent={usage.microUsd} reserved={0} limit={talk.share} />
                <small>
                  {percent(usage.microUsd, talk.share)} of its share of {money(talk.share)}
                </small>
              </>
            )}
          </dd>
        </div>
        {talk.files.length > 0 && (
          <div>
            <dt>
              <Icon name="file" small /> Files touched
            </dt>
            <dd>
              {talk.files.map((file) => (
                <code key={file} class="block">
                  {visible(file)}
                </code>
              ))}
            </dd>
          </div>
        )}
        {talk.taint.length > 0 && (
          <div>
            <dt>
              <Icon name="drop" small /> Untrusted input
            </dt>
            <dd>
              <Taint sources={talk.taint} />
            </dd>
          </div>
        )}
        {!isExported() && (origin !== undefined || talk.forks.length > 0) && (
          <div>
            <dt>
              <Icon name="fork" small /> Forks
            </dt>
            <dd>
              {origin !== undefined && (
                <Fork id={origin} of={talk.id} name={`from message ${forkedFrom?.split('@').at(-1)} of another`} />
              )}
              {talk.forks.map(({ id, at }, i) => (
                <Fork key={id} id={talk.id} of={id} name={`fork ${i + 1}, from message ${at}`} open={id} />
              ))}
            </dd>
          </div>
        )}
        {task !== undefined && hello.value?.readOnly !== true && (
          <div>
            <dt>
              <Icon name="model" small /> Input
            </dt>
            <dd>
              <a class="link" href={address('prompt', talk.id)}>
                What the model gets
              </a>
            </dd>
          </div>
        )}
        <div>
          <dt>
            <Icon name="file" small /> In your editor
          </dt>
          <dd>
            <code>{visible(talk.place)}</code>
          </dd>
        </div>
      </dl>
    </aside>
  );
}

function Fork({ id, of, name, open = id }: { id: string; of: string; name: string; open?: string }): JSX.Element {
  return (
    <div class="split">
      <a class="link one" href={address('conversation', open)}>
        {visible(name)}
      </a>
      <a class="btn sm" href={`#/compare/${encodeURIComponent(`${id}|${of}`)}`}>
        Compare
      </a>
    </div>
  );
}
