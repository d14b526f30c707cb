/** Conversations: messages with their tool calls folded, and what you can do with them. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Conversation as Data, SessionRow } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Composer } from '../conversation/composer.tsx';
import { Facts } from '../conversation/facts.tsx';
import { LiveTurn } from '../conversation/live-turn.tsx';
import { Message } from '../conversation/message.tsx';
import { Icon } from '../icons.tsx';
import { Empty, ProblemBox, Loading, TaskState } from '../parts.tsx';
import { address } from '../router.ts';
import { ago, visible } from '../text.ts';

export function Conversations(): JSX.Element {
  const { data, problem } = useRead<SessionRow[]>('/api/sessions');
  return (
    <div class="page">
      <div class="head">
        <h1>Conversations</h1>
      </div>
      {problem.value !== undefined && <ProblemBox problem={problem.value} />}
      {data.value === undefined ? (
        <Loading rows={8} problem={problem.value} />
      ) : data.value.length === 0 ? (
        <Empty icon="chat" title="No agent has talked yet" />
      ) : (
        <section class="panel">
          {data.value.map((row) => (
            <a key={row.id} class="row crow" href={address('conversation', row.id)}>
              <b class="one">{visible(row.agent)}</b>
              <span class="one">{visible(row.title ?? row.id)}</span>
              <span class="dim">{visible(row.status)}</span>
              <span class="num">{ago(row.created)}</span>
            </a>
          ))}
        </section>
      )}
    </div>
  );
}

/** Two conversations side by side: a fork and the one that it came from. */
export function Compare({ ids }: { ids: string[] }): JSX.Element {
  return (
    <div class="page flush compare">
      {ids.map((id) => (
        <Column key={id} id={id} />
      ))}
    </div>
  );
}

function Column({ id }: { id: string }): JSX.Element {
  const { data, problem } = useRead<Data>(`/api/sessions/${encodeURIComponent(id)}`);
  const talk = data.value;
  return (
    <section class="cmain" aria-label={id}>
      <div class="chead">
        <h1>
          <a class="link" href={address('conversation', id)}>
            {visible(talk?.task?.title ?? id)}
          </a>
        </h1>
      </div>
      <div class="cscroll" tabIndex={0}>
        {problem.value !== undefined && <ProblemBox problem={problem.value} />}
        {talk === undefined ? (
          <Loading problem={problem.value} />
        ) : (
          talk.messages.map((message) => <Message key={message.n} message={message} talk={talk} />)
        )}
      </div>
    </section>
  );
}

export function Conversation({ id }: { id: string }): JSX.Element {
  const [before, setBefore] = useState('');
  const { data, problem } = useRead<Data>(
    `/api/sessions/${encodeURIComponent(id)}${before === '' ? '' : `?before=${before}`}`,
  );
  const end = useRef<HTMLDivElement>(null);
  const talk = data.value;
  const total = talk?.total ?? 0;
  useEffect(() => {
    if (before === '') end.current?.scrollIntoView({ block: 'end' });
  }, [total, before]);
  if (talk === undefined)
    return (
      <div class="page">
        {problem.value === undefined ? (
          <Loading rows={8} problem={problem.value} />
        ) : (
          <ProblemBox problem={problem.value} />
        )}
      </div>
    );
  return (
    <div class="page flush conv">
      <div class="cmain">
        <div class="chead">
          <div>
            <div class="crumb">
              <Icon name="chat" small /> Conversation of <b>{visible(talk.agent)}</b>
            </div>
            <h1>{visible(talk.task?.title ?? talk.id)}</h1>
          </div>
          <span class="grow" />
          {talk.task !== undefined && <TaskState row={{ state: talk.task.state }} />}
        </div>
        <div class="cscroll" tabIndex={0}>
          <div class="cw">
            {talk.problem !== undefined && <ProblemBox problem={talk.problem} />}
            {talk.text !== undefined && <pre class="file">{visible(talk.text)}</pre>}
            {talk.from > 1 && (
              <button type="button" class="btn" onClick={() => setBefore(String(talk.from))}>
                {talk.from - 1} earlier messages
              </button>
            )}
            {before !== '' && (
              <button type="button" class="btn" onClick={() => setBefore('')}>
                To the newest
              </button>
            )}
            {talk.messages.map((message) => (
              <Message key={message.n} message={message} talk={talk} />
            ))}
            <LiveTurn talk={talk} />
            <div ref={end} />
          </div>
        </div>
        <Composer talk={talk} />
      </div>
      <Facts talk={talk} />
    </div>
  );
}
