/** Conversations: messages with their tool calls folded, and what you can do with them. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Conversation as Data, SessionRow, ShownCall, ShownMessage } from '../../src/web/base/contract.ts';
import { send, useRead, type Sent } from '../api.ts';
import { Ask } from '../ask.tsx';
import { Icon } from '../icons.tsx';
import { Markdown } from '../markdown.tsx';
import { Empty, ProblemBox, Refused, Still, TaskLink, TaskState, whyNot } from '../parts.tsx';
import { address, go } from '../router.ts';
import { ago, clock, count, duration, money, visible } from '../text.ts';

export function Conversations(): JSX.Element {
  const { data, problem } = useRead<SessionRow[]>('/api/sessions');
  return (
    <div class="page">
      <div class="head">
        <h1>Conversations</h1>
      </div>
      {problem.value !== undefined && <ProblemBox problem={problem.value} />}
      {data.value === undefined ? (
        <Still rows={8} />
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
          <Still />
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
        {problem.value === undefined ? <Still rows={8} /> : <ProblemBox problem={problem.value} />}
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
            <div ref={end} />
          </div>
        </div>
        <Composer talk={talk} />
      </div>
      <Facts talk={talk} />
    </div>
  );
}

function Message({ message, talk }: { message: ShownMessage; talk: Data }): JSX.Element {
  const [forking, setForking] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const [sent, setSent] = useState<Sent>();
  const isAgent = message.role === 'assistant';
  const who = isAgent ? talk.agent : (message.from ?? message.role);
  const { usage } = message;
  const fork = async (text: string): Promise<void> => {
    const result = await send('task.fork', talk.id, { at: message.n, text });
    setSent(result);
    if (result.ok && result.made?.session !== undefined) go(address('conversation', result.made.session));
  };
  const edit = async (text: string): Promise<void> => {
    const result = await send('session.edit', talk.id, { n: message.n, text }, talk.seen);
    setSent(result);
    setEditing(false);
  };
  return (
    <article class={isAgent ? 'msg' : 'msg in'} id={`m${message.n}`}>
      <span class={isAgent ? 'av s-run' : 'av'}>{visible(who.slice(0, 1).toUpperCase())}</span>
      <div class="body">
        <div class="who">
          <b>{visible(who)}</b>
          {message.at !== undefined && <time>{clock(message.at)}</time>}
          {message.kind !== undefined && <span>{message.kind.replaceAll('_', ' ')}</span>}
          {usage !== undefined && (
            <span>
              {usage.inputTokens} in, {usage.outputTokens} out{usage.ms === undefined ? '' : `, ${duration(usage.ms)}`}
              {usage.microUsd === undefined ? '' : `, ${money(usage.microUsd)}`}
            </span>
          )}
          <button
            type="button"
            class="btn sm ghost fork"
            disabled={whyNot() !== undefined}
            onClick={() => setEditing(true)}
          >
            <Icon name="edit" small /> Edit
          </button>
          <button
            type="button"
            class="btn sm ghost fork"
            disabled={whyNot() !== undefined}
            onClick={() => setForking(true)}
          >
            <Icon name="fork" small /> Fork from here
          </button>
        </div>
        <Refused sent={sent} />
        <div class={message.tainted ? 'txt data' : 'txt'}>
          {isAgent ? <Markdown text={message.text} /> : <p class="pre">{visible(message.text)}</p>}
        </div>
        {message.calls.map((call) => (
          <Call key={call.id} call={call} />
        ))}
      </div>
      {isEditing && (
        <Ask
          title="Save…"
          label="Your version. The agent continues from what the file says."
          start={message.text}
          close={() => setEditing(false)}
          done={edit}
        />
      )}
      {forking && (
        <Ask
          title="Fork…"
          label="The next message to the agent. The conversation so far is copied; this one stays as it is."
          close={() => setForking(false)}
          done={fork}
        />
      )}
    </article>
  );
}

/** A tool call: folded to its argument and outcome. The result is data from outside. */
function Call({ call }: { call: ShownCall }): JSX.Element {
  return (
    <details class="fold">
      <summary>
        <Icon name={call.tool === 'execute_command' ? 'term' : 'file'} />
        <b>{visible(call.tool)}</b>
        <code class="one">{visible(call.main)}</code>
        <span class="r">
          {call.ok === undefined ? (
            'no result yet'
          ) : (
            <span class={call.ok ? 'ok' : 'bad'}>{call.ok ? 'done' : 'failed'}</span>
          )}
        </span>
      </summary>
      <pre>{visible(call.arguments)}</pre>
      {call.result !== undefined && <pre class="data">{visible(call.result)}</pre>}
    </details>
  );
}

function Composer({ talk }: { talk: Data }): JSX.Element | null {
  const box = useRef<HTMLTextAreaElement>(null);
  const [sent, setSent] = useState<Sent>();
  const isOpen = talk.task !== undefined && talk.task.state !== 'completed' && talk.task.state !== 'failed';
  if (!isOpen) return null;
  const say = async (): Promise<void> => {
    const text = box.current?.value ?? '';
    if (text.trim() === '') return;
    const result = await send('task.tell', talk.task!.id, { text });
    setSent(result);
    if (result.ok && box.current !== null) box.current.value = '';
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void say();
  };
  return (
    <div class="comp">
      <Refused sent={sent} />
      <div class="bx">
        <textarea
          ref={box}
          rows={1}
          aria-label={`Message ${talk.agent}`}
          placeholder={`Message ${talk.agent}; it reads it before its next turn`}
          onKeyDown={onKey}
        />
        <button
          type="button"
          class="btn pri"
          disabled={whyNot() !== undefined}
          title={whyNot()}
          onClick={() => void say()}
        >
          Send <kbd>⌘ ↵</kbd>
        </button>
      </div>
    </div>
  );
}

function Facts({ talk }: { talk: Data }): JSX.Element {
  const { usage } = talk;
  return (
    <aside class="facts">
      <dl>
        {talk.task !== undefined && (
          <div>
            <dt>Task</dt>
            <dd>
              <TaskLink id={talk.task.id} title={talk.task.title} />
            </dd>
          </div>
        )}
        <div>
          <dt>Agent</dt>
          <dd>
            <a class="link" href={address('agents', talk.agent)}>
              {visible(talk.agent)}
            </a>
            {talk.model !== undefined && <small>{visible(talk.model)}</small>}
          </dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>
            {money(usage.microUsd)}
            <small>
              {usage.turns} turns, {count(usage.inputTokens)} in, {count(usage.outputTokens)} out
            </small>
          </dd>
        </div>
        {talk.forkedFrom !== undefined && (
          <div>
            <dt>Forked from</dt>
            <dd>
              <a class="link" href={address('conversation', talk.forkedFrom.replace(/@\d+$/, ''))}>
                {visible(talk.forkedFrom)}
              </a>
              <a
                class="link"
                href={`#/compare/${encodeURIComponent(`${talk.forkedFrom.replace(/@\d+$/, '')}|${talk.id}`)}`}
              >
                Compare
              </a>
            </dd>
          </div>
        )}
        <div>
          <dt>In your editor</dt>
          <dd>
            <code>{visible(talk.place)}</code>
          </dd>
        </div>
      </dl>
    </aside>
  );
}
