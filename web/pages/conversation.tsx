/** Conversations: messages with their tool calls folded, and what you can do with them. */
import { Fragment, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TaskState as TaskStateWord } from '../../src/domain/task/task.ts';
import type { Conversation as Data, SessionRow } from '../../src/web/base/contract.ts';
import { isExported, useRead, type Read } from '../api.ts';
import { Check } from '../conversation/check.tsx';
import { Composer } from '../conversation/composer.tsx';
import { Facts } from '../conversation/facts.tsx';
import { LiveTurn } from '../conversation/live-turn.tsx';
import { Message } from '../conversation/message.tsx';
import { Icon } from '../icons.tsx';
import { useKeys } from '../keys.ts';
import { Empty, Loaded, LoadedPage, NewTaskButton, ProblemBox, TaskState } from '../parts.tsx';
import { address, place } from '../router.ts';
import { ago, money, visible } from '../text.ts';

/** The number of conversations in one answer of the server. */
const AT_ONCE = 200;

export function Conversations(): JSX.Element {
  const [parts, setParts] = useState(1);
  return (
    <div class="page">
      <div class="head">
        <h1>Conversations</h1>
        <span class="meta">Every word between agents, people and tools</span>
        <span class="grow" />
        <NewTaskButton />
      </div>
      {Array.from({ length: parts }, (_, part) => (
        <Part key={part} from={part * AT_ONCE} more={part === parts - 1 ? () => setParts(parts + 1) : undefined} />
      ))}
    </div>
  );
}

/** `more`: asks for older ones. */
function Part({ from, more }: { from: number; more: (() => void) | undefined }): JSX.Element {
  const read = useRead<SessionRow[]>(from === 0 ? '/api/sessions' : `/api/sessions?from=${from}`);
  return (
    <Loaded read={read}>
      {(sessions) =>
        sessions.length === 0 ? (
          from === 0 && (
            <Empty icon="chat" title="No agent has talked yet">
              Every turn of an agent is written to <code>sessions/</code>. Give one a task <kbd>C</kbd>.
            </Empty>
          )
        ) : (
          <>
            <section class="panel">
              <div class="row crow thead" aria-hidden="true">
                <span>State</span>
                <span>Agent</span>
                <span>About</span>
                <span class="num">Last word</span>
              </div>
              {sessions.map((row) => (
                <a key={row.id} class="row crow" href={address('conversation', row.id)}>
                  <SessionState {...row} />
                  <b class="one">{visible(row.agent)}</b>
                  <span class="one">
                    {visible(row.title ?? row.id)} {row.forkedFrom !== undefined && <span class="chip">fork</span>}
                  </span>
                  <span class="num">{ago(row.created)}</span>
                </a>
              ))}
            </section>
            {sessions.length === AT_ONCE && more !== undefined && (
              <button type="button" class="btn" onClick={more}>
                Older conversations
              </button>
            )}
          </>
        )
      }
    </Loaded>
  );
}

/** The status of a conversation without a task, in the words used for tasks. */
const STATES: Record<string, TaskStateWord> = {
  active: 'active',
  sleeping: 'waiting',
  completed: 'completed',
  error: 'failed',
};

function SessionState({ status, state = STATES[status], code }: SessionRow): JSX.Element {
  return state === undefined ? <span class="dim">{visible(status)}</span> : <TaskState row={{ state, code }} />;
}

/** Two conversations side by side: a fork and the one that it came from. */
export function Compare({ ids }: { ids: string[] }): JSX.Element {
  const [one = '', two = ''] = ids;
  const left = useRead<Data>(`/api/sessions/${encodeURIComponent(one)}`);
  const right = useRead<Data>(`/api/sessions/${encodeURIComponent(two)}`);
  const differs = firstDifference(left.data.value?.messages, right.data.value?.messages);
  return (
    <div class="page flush compare">
      <Column id={one} read={left} differs={differs} />
      <Column id={two} read={right} differs={differs} />
    </div>
  );
}

/** The number of the first message that is not the same; undefined if that is not known yet. */
function firstDifference(left?: Data['messages'], right?: Data['messages']): number | undefined {
  if (left === undefined || right === undefined) return undefined;
  const others = new Map(right.map((message) => [message.n, message]));
  const differing = left.find(({ n, role, text }) => others.get(n)?.role !== role || others.get(n)?.text !== text);
  return differing?.n ?? (left.at(-1)?.n ?? 0) + 1;
}

interface ColumnProps {
  id: string;
  read: Read<Data>;
  differs: number | undefined;
}

function Column({ id, read, differs }: ColumnProps): JSX.Element {
  const talk = read.data.value;
  const mark = useRef<HTMLDivElement>(null);
  // Both columns start at the first difference.
  useEffect(() => mark.current?.scrollIntoView({ block: 'center' }), [differs]);
  return (
    <section class="cmain" aria-label={id}>
      <div class="chead">
        <div>
          <div class="crumb">
            <Icon name={talk?.forkedFrom === undefined ? 'chat' : 'fork'} small />
            {talk?.forkedFrom === undefined ? 'Conversation' : 'Fork'}
            {talk !== undefined && ` of ${visible(talk.agent)}, ${money(talk.usage.microUsd)}`}
          </div>
          <h1>
            <a class="link" href={address('conversation', id)}>
              {visible(talk?.first?.title ?? id)}
            </a>
          </h1>
        </div>
      </div>
      <div class="cscroll" tabIndex={0}>
        <Loaded read={read}>
          {(each) => (
            <>
              {each.messages.map((message) => (
                <Fragment key={message.n}>
                  {message.n === differs && <Parting place={mark} />}
                  <Message message={message} talk={each} />
                </Fragment>
              ))}
              {differs !== undefined && (each.messages.at(-1)?.n ?? 0) < differs && <Parting place={mark} />}
              {each.next !== undefined && <Next talk={each} />}
            </>
          )}
        </Loaded>
      </div>
    </section>
  );
}

function Parting({ place }: { place: { current: HTMLDivElement | null } }): JSX.Element {
  return (
    <div class="checkline" ref={place}>
      <span class="chip s-check">
        <Icon name="fork" /> Different from here
      </span>
    </div>
  );
}

/** A message that is not in the file yet. */
function Next({ talk }: { talk: Data }): JSX.Element {
  return (
    <article class="msg">
      <span class="av s-wait">
        <Icon name="pending" />
      </span>
      <div class="body">
        <div class="who">
          <b>Next</b>
          <TaskState row={{ state: 'pending' }} plain />
          <span class="dim">in the conversation as soon as {visible(talk.agent)} starts</span>
        </div>
        <div class="txt">{visible(talk.next!.text)}</div>
      </div>
    </article>
  );
}

export function Conversation({ id }: { id: string }): JSX.Element {
  const [before, setBefore] = useState('');
  const read = useRead<Data>(`/api/sessions/${encodeURIComponent(id)}${before === '' ? '' : `?before=${before}`}`);
  const brought = useRef(0);
  return <LoadedPage read={read}>{(talk) => <Talk {...{ talk, before, setBefore, brought }} />}</LoadedPage>;
}

/** Checks between this message and the next one that is shown; results of tools are not. */
function checksAfter({ messages, checks }: Data, n: number): Data['checks'] {
  const next = messages[messages.findIndex((message) => message.n === n) + 1]?.n ?? Infinity;
  return checks.filter(({ after }) => after >= n && after < next);
}

/** To the conversation from which this one was forked, or to its newest fork. */
function CompareLink({ talk }: { talk: Data }): JSX.Element | null {
  const origin = talk.forkedFrom?.replace(/@\d+$/, '');
  const fork = talk.forks.at(-1)?.id;
  if (isExported() || (origin === undefined && fork === undefined)) return null;
  const pair = origin === undefined ? [talk.id, fork] : [origin, talk.id];
  return (
    <a class="btn sm" href={`#/compare/${encodeURIComponent(pair.join('|'))}`}>
      <Icon name="fork" small /> Compare
    </a>
  );
}

interface TalkProps {
  talk: Data;
  /** The number of the first message that is not shown; empty: the newest are. */
  before: string;
  setBefore: (before: string) => void;
  /** The message of a search to which the person was brought; then they go where they like. */
  brought: { current: number };
}

/** The number of messages shown below an old one. */
const SHOWN_AFTER = 20;

function Talk({ talk, before, setBefore, brought }: TalkProps): JSX.Element {
  const end = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<number>();
  const [hasFacts, setFacts] = useState(false);
  const { total } = talk;
  const isBroken = talk.text !== undefined;
  // A search leads to one message.
  const sought = Number(place.value.query.get('m') ?? 0);
  useEffect(() => {
    // A file that cannot be read starts with its problem.
    if (before === '' && !isBroken && sought === 0) end.current?.scrollIntoView({ block: 'end' });
  }, [total, before, isBroken, sought]);
  useEffect(() => {
    if (sought === 0 || brought.current === sought) return;
    if (sought < talk.from || sought >= Number(before || Infinity)) return setBefore(String(sought + SHOWN_AFTER));
    brought.current = sought;
    setChosen(sought);
    document.getElementById(`m${sought}`)?.scrollIntoView({ block: 'center' });
  }, [sought, talk.from, before]);
  const choose = (by: number): void => {
    const numbers = talk.messages.map(({ n }) => n);
    const here = chosen === undefined ? (by > 0 ? -1 : numbers.length) : numbers.indexOf(chosen);
    const next = numbers[Math.min(numbers.length - 1, Math.max(0, here + by))];
    setChosen(next);
    document.getElementById(`m${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  useKeys({ j: () => choose(1), k: () => choose(-1), ArrowDown: () => choose(1), ArrowUp: () => choose(-1) });
  return (
    <div class={hasFacts ? 'page flush conv with' : 'page flush conv'}>
      <div class="cmain">
        <div class="chead">
          <div>
            <div class="crumb">
              <Icon name="chat" small /> Conversation of <b>{visible(talk.agent)}</b>
            </div>
            <h1>{visible(talk.first?.title ?? talk.id)}</h1>
          </div>
          <span class="grow" />
          {talk.task !== undefined && <TaskState row={talk.task} />}
          <CompareLink talk={talk} />
          <button type="button" class="btn sm narrowonly" aria-expanded={hasFacts} onClick={() => setFacts(true)}>
            About
          </button>
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
              <Fragment key={message.n}>
                <Message message={message} talk={talk} isChosen={message.n === chosen} />
                {checksAfter(talk, message.n).map((check) => (
                  <Check key={check.task} check={check} />
                ))}
              </Fragment>
            ))}
            {talk.next !== undefined && before === '' && <Next talk={talk} />}
            <LiveTurn talk={talk} />
            <div ref={end} />
          </div>
        </div>
        <Composer talk={talk} />
      </div>
      <Facts talk={talk} close={() => setFacts(false)} />
    </div>
  );
}
