/** The inbox: one request at a time, exactly as it would run, answered by one key. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { IntentKind, Request, Requests } from '../../src/web/base/contract.ts';
import { send, useRead, type Sent } from '../api.ts';
import { Diff } from '../diff.tsx';
import { Icon } from '../icons.tsx';
import { useKeys } from '../keys.ts';
import { Empty, Id, ProblemBox, Refused, Still, Taint, TaskLink, whyNot } from '../parts.tsx';
import { address, go } from '../router.ts';
import { ago, clock, plural, visible } from '../text.ts';
import { requestIcon } from './hall.tsx';

/** After an answer the next request appears; keys do nothing for this long. */
const PAUSE_MS = 500;

export function Inbox({ id }: { id: string }): JSX.Element {
  const { data, problem } = useRead<Requests>('/api/requests');
  if (problem.value !== undefined)
    return (
      <div class="page">
        <ProblemBox problem={problem.value} />
      </div>
    );
  const requests = data.value;
  if (requests === undefined)
    return (
      <div class="page">
        <Still rows={6} />
      </div>
    );
  const all = [...requests.open, ...requests.answered];
  const request = all.find((each) => each.id === id) ?? requests.open[0];
  const at = requests.open.findIndex((each) => each.id === request?.id);
  const move = (by: number): void => {
    const next = requests.open[Math.min(requests.open.length - 1, Math.max(0, at + by))];
    if (next !== undefined) go(address('inbox', next.id));
  };
  return (
    <div class="page flush inbox">
      <div class="ilist">
        <div class="hd">
          <h1>Inbox</h1>
          {requests.open.length > 0 && <span class="chip s-you">{requests.open.length} waiting</span>}
        </div>
        {requests.open.map((each) => (
          <Item key={each.id} request={each} isHere={each.id === request?.id} />
        ))}
        {requests.answered.length > 0 && <div class="grp">Answered</div>}
        {requests.answered.map((each) => (
          <Item key={each.id} request={each} isHere={each.id === request?.id} />
        ))}
      </div>
      {request === undefined ? (
        <Empty icon="inbox" title="Nothing waits for you">
          Requests and questions of agents appear here, and in <code>tasks/approvals.task.md</code>.
        </Empty>
      ) : (
        <Shown key={request.id} request={request} place={at + 1} of={requests.open.length} move={move} />
      )}
    </div>
  );
}

function Item({ request, isHere }: { request: Request; isHere: boolean }): JSX.Element {
  return (
    <a class={isHere ? 'it on' : 'it'} href={address('inbox', request.id)} aria-current={isHere ? 'true' : undefined}>
      <span class={request.answer === undefined ? 's-you ic' : 's-off ic'}>
        <Icon name={requestIcon(request)} />
      </span>
      <span class="t">{request.title}</span>
      <span class="ago">{ago(request.answeredAt ?? request.createdAt)}</span>
      <span class="m">
        {visible(request.agent)}
        {request.answer !== undefined && ` · ${outcome(request)}`}
        <Taint sources={request.taint} />
      </span>
    </a>
  );
}

function outcome({ answer }: Request): string {
  if (answer === undefined) return '';
  if (!answer.approved) return answer.reason === undefined ? 'rejected' : `rejected: “${visible(answer.reason)}”`;
  return answer.edited ? 'approved with edits' : 'approved';
}

interface ShownProps {
  request: Request;
  place: number;
  of: number;
  move: (by: number) => void;
}

/** When the last answer was sent, over all requests: a key held down answers once. */
const answeredAt = signal(0);

function Shown({ request, place, of, move }: ShownProps): JSX.Element {
  const [mode, setMode] = useState<'look' | 'reject' | 'edit' | 'sure'>('look');
  const [sent, setSent] = useState<Sent>();
  const title = useRef<HTMLHeadingElement>(null);
  const isOpen = request.answer === undefined && request.answeredAt === undefined;
  const isGrave = request.risk === 'HIGH';
  const { editable } = request;
  useEffect(() => title.current?.focus({ preventScroll: true }), []);

  const answer = async (kind: IntentKind, args: Record<string, unknown> = {}): Promise<void> => {
    answeredAt.value = Date.now();
    const result = await send(kind, request.id, args, request.seen);
    setSent(result);
    if (result.ok) setMode('look');
  };
  const approve = (): void => void answer('request.approve');
  const isPaused = (event?: KeyboardEvent): boolean =>
    whyNot() !== undefined || !isOpen || event?.repeat === true || Date.now() - answeredAt.value < PAUSE_MS;
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    s: () => move(1),
    y: (event) => {
      if (isPaused(event)) return;
      if (isGrave) setMode('sure');
      else approve();
    },
    Enter: (event) => {
      if (!isPaused(event) && mode === 'sure') approve();
    },
    n: (event) => void (isPaused(event) || setMode('reject')),
    e: (event) => void (isPaused(event) || editable === undefined || setMode('edit')),
  });
  return (
    <div class="idetail">
      <div class="iscroll" tabIndex={0}>
        <div class="crumb">
          <Icon name="inbox" small />
          {isOpen ? `${place} of ${of}` : 'Answered'} · <Id id={request.id} short={request.short} />
        </div>
        <h2 ref={title} tabIndex={-1}>
          {request.title}
        </h2>
        <div class="sub">
          <b>{visible(request.agent)}</b> asked {ago(request.createdAt)} ago
          {request.task !== undefined && (
            <>
              , for <TaskLink {...request.task} />
            </>
          )}
        </div>
        <Facts request={request} />
        <Refused sent={sent} />
        <Action request={request} />
        <div class="ffoot">
          {request.session !== undefined && (
            <a class="link" href={address('conversation', request.session)}>
              <Icon name="chat" small /> The conversation
            </a>
          )}
          <span>
            <Icon name="file" small /> In your editor: <code>{request.place}</code>
          </span>
        </div>
      </div>
      {isOpen ? (
        <AnswerBar
          request={request}
          mode={mode}
          setMode={setMode}
          answer={answer}
          approve={approve}
          isGrave={isGrave}
          move={move}
        />
      ) : (
        <div class="abar">
          {outcome(request) || 'answered'} {request.answer !== undefined && `at ${clock(request.answer.at)}`}
        </div>
      )}
    </div>
  );
}

/** The facts are drawn by the program for every surface; they are shown as they are. */
function Facts({ request }: { request: Request }): JSX.Element {
  const { taint, blocks, about, risk } = request;
  return (
    <dl class="fband">
      <div>
        <dt>About this request</dt>
        <dd>
          {about.length === 0 ? 'The agent needs an answer' : <pre class="about">{about.join('\n')}</pre>}
          {risk !== undefined && <small class={risk === 'HIGH' ? 'bad' : ''}>{risk.toLowerCase()} risk</small>}
        </dd>
      </div>
      <div>
        <dt>Influenced by</dt>
        <dd>{taint.length === 0 ? 'Nothing from outside' : <Taint sources={taint} />}</dd>
      </div>
      <div>
        <dt>Waiting on this</dt>
        <dd>{blocks.length === 0 ? 'No task' : plural(blocks.length, 'task')}</dd>
      </div>
    </dl>
  );
}

/** Verbatim, never as Markdown, never cut. */
function Action({ request }: { request: Request }): JSX.Element {
  const { action, changes, path } = request;
  return (
    <>
      {changes.length > 0 && <Diff lines={changes} path={path ?? ''} />}
      <div class="field">
        <h3>{action.key}</h3>
        <pre>{action.text}</pre>
      </div>
    </>
  );
}

interface BarProps {
  request: Request;
  mode: 'look' | 'reject' | 'edit' | 'sure';
  setMode: (mode: 'look' | 'reject' | 'edit' | 'sure') => void;
  answer: (kind: IntentKind, args?: Record<string, unknown>) => Promise<void>;
  approve: () => void;
  isGrave: boolean;
  move: (by: number) => void;
}

function AnswerBar({ request, mode, setMode, answer, approve, isGrave, move }: BarProps): JSX.Element {
  const { editable } = request;
  const off = whyNot();
  if (mode === 'reject')
    return (
      <Write
        label="Why not? The agent reads this."
        start=""
        act="Reject"
        cancel={() => setMode('look')}
        done={(reason) => answer('request.reject', { reason })}
      />
    );
  if (mode === 'edit' && editable !== undefined)
    return (
      <Write
        label={`Your version of ${request.action.key}. It runs as you write it.`}
        start={editable}
        act="Approve this"
        cancel={() => setMode('look')}
        done={(text) => answer('request.edit', { text })}
      />
    );
  return (
    <div class="abar">
      {mode === 'sure' ? (
        <button type="button" class="btn danger" onClick={approve}>
          Really approve <kbd>Enter</kbd>
        </button>
      ) : (
        <button
          type="button"
          class="btn pri"
          disabled={off !== undefined}
          title={off}
          onClick={isGrave ? () => setMode('sure') : approve}
        >
          Approve <kbd>Y</kbd>
        </button>
      )}
      <button type="button" class="btn" disabled={off !== undefined} title={off} onClick={() => setMode('reject')}>
        Reject… <kbd>N</kbd>
      </button>
      {editable !== undefined && (
        <button type="button" class="btn" disabled={off !== undefined} title={off} onClick={() => setMode('edit')}>
          Edit <kbd>E</kbd>
        </button>
      )}
      <button type="button" class="btn ghost" onClick={() => move(1)}>
        Skip <kbd>S</kbd>
      </button>
    </div>
  );
}

interface WriteProps {
  label: string;
  start: string;
  act: string;
  cancel: () => void;
  done: (text: string) => Promise<void>;
}

function Write({ label, start, act, cancel, done }: WriteProps): JSX.Element {
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), []);
  const finish = (): void => void done(box.current?.value ?? '');
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') cancel();
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) finish();
  };
  return (
    <div class="abar write">
      <label>
        {label}
        <textarea ref={box} rows={start === '' ? 2 : 8} defaultValue={start} onKeyDown={onKey} />
      </label>
      <span class="acts">
        <button type="button" class="btn" onClick={cancel}>
          Cancel <kbd>Esc</kbd>
        </button>
        <button type="button" class="btn pri" onClick={finish}>
          {act} <kbd>⌘ ↵</kbd>
        </button>
      </span>
    </div>
  );
}
