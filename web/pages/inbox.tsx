/** The inbox: one request at a time, exactly as it would run, answered by one key. */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { IntentKind, Request, Requests, RequestSource } from '../../src/web/base/contract.ts';
import { useRead, type Sent } from '../api.ts';
import { Icon } from '../icons.tsx';
import { useKeys } from '../keys.ts';
import { Empty, Id, LoadedPage, Refused, Taint, TaskLink } from '../parts.tsx';
import { AnswerBar } from '../request/answer-bar.tsx';
import { answerRequest, pauseAnswers } from '../request/answers.ts';
import { Diff } from '../request/diff.tsx';
import { Details, Facts, Untrusted, useSource } from '../request/facts.tsx';
import { Heading, kindWord, outcome, requestIcon, requestTone, sizeOf } from '../request/heading.tsx';
import { address, go } from '../router.ts';
import { ago, clock, plural, visible, when } from '../text.ts';

export function Inbox({ id }: { id: string }): JSX.Element {
  const read = useRead<Requests>('/api/requests');
  return <LoadedPage read={read}>{(requests) => <Filled id={id} requests={requests} />}</LoadedPage>;
}

function Filled({ id, requests }: { id: string; requests: Requests }): JSX.Element {
  const all = [...requests.open, ...requests.answered];
  const request = all.find((each) => each.id === id) ?? requests.open[0];
  const at = requests.open.findIndex((each) => each.id === request?.id);
  usePause(request, id);
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
          <span class="grow" />
          <kbd>J</kbd> <kbd>K</kbd>
        </div>
        {requests.open.length > 0 && <div class="grp">Waiting for you</div>}
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
        <Shown
          key={`${request.id} ${request.seen}`}
          request={request}
          chosen={id}
          place={at + 1}
          of={requests.open.length}
          answered={requests.answered}
          next={requests.open[at + 1] ?? requests.open[at - 1]}
          move={move}
        />
      )}
    </div>
  );
}

/** Keys pause when a request changes, or is replaced by another without a key press. */
function usePause(request: Request | undefined, chosen: string): void {
  const shown = useRef(request);
  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = request;
    if (request === undefined) return;
    if (before?.id === request.id ? before.seen !== request.seen : chosen !== request.id) pauseAnswers();
  });
}

function Item({ request, isHere }: { request: Request; isHere: boolean }): JSX.Element {
  const isOpen = request.answeredAt === undefined;
  return (
    <a class={isHere ? 'it on' : 'it'} href={address('inbox', request.id)} aria-current={isHere ? 'true' : undefined}>
      <span class={`${requestTone(request)} ic`}>
        <Icon name={requestIcon(request)} />
      </span>
      <span class={isOpen ? 't' : 't past'}>
        <Heading request={request} />
      </span>
      <span class="ago">{ago(request.answeredAt ?? request.createdAt)}</span>
      <span class="m">
        {[visible(request.agent), isOpen ? sizeOf(request) : outcome(request)].filter(Boolean).join(' · ')}
        <Taint sources={request.taint} />
      </span>
    </a>
  );
}

interface ShownProps {
  request: Request;
  /** The id in the address. */
  chosen: string;
  place: number;
  of: number;
  answered: readonly Request[];
  /** The request to show after this one is answered. */
  next: Request | undefined;
  move: (by: number) => void;
}

function Shown({ request, chosen, place, of, answered, next, move }: ShownProps): JSX.Element {
  const [sent, setSent] = useState<Sent>();
  const title = useRef<HTMLHeadingElement>(null);
  const scroll = useRef<HTMLDivElement>(null);
  const below = useBelow(scroll);
  const source = useSource(request);
  const isOpen = request.answeredAt === undefined;
  // The frame takes the focus whenever the address changes.
  useEffect(() => title.current?.focus({ preventScroll: true }), [chosen]);
  const answer = async (kind: IntentKind, args: Record<string, unknown> = {}): Promise<void> => {
    const here = location.hash;
    const reply = await answerRequest(request, kind, args);
    setSent(reply);
    if (!reply.ok || location.hash !== here) return;
    pauseAnswers();
    // "All like this" may answer the next request as well.
    go(address('inbox', args['alike'] === true ? '' : next?.id));
  };
  useKeys({ j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) });
  return (
    <div class="idetail">
      <div class="iscroll" tabIndex={0} ref={scroll}>
        <div class="crumb">
          <Icon name="inbox" small />
          {isOpen ? `${place} of ${of}` : 'Answered'} · {kindWord(request)} ·{' '}
          <Id id={request.id} short={request.short} />
          <span class="grow" />
          <span class="phoneonly">
            <button type="button" class="iconbtn" aria-label="Previous request" onClick={() => move(-1)}>
              ‹
            </button>
            <button type="button" class="iconbtn" aria-label="Next request" onClick={() => move(1)}>
              ›
            </button>
          </span>
        </div>
        <h2 ref={title} tabIndex={-1} aria-live="polite">
          <Heading request={request} />
        </h2>
        <div class="sub">
          <b>{visible(request.agent)}</b> asked {when(request.createdAt)}
          {request.task !== undefined && (
            <>
              , for <TaskLink {...request.task} />
            </>
          )}
          {source?.said !== undefined && <span class="said">and said: “{source.said}”</span>}
        </div>
        <Facts request={request} />
        <Refused sent={sent} />
        <Action request={request} />
        <Details request={request} />
        <Untrusted source={source} />
        <Footer request={request} source={source} answered={answered} />
      </div>
      {request.isForeign === true ? (
        <div class="abar">Nothing to answer yet</div>
      ) : isOpen ? (
        <AnswerBar request={request} answer={answer} move={move} below={below} />
      ) : (
        <div class="abar">
          {outcome(request) || 'answered'} {request.answer !== undefined && `at ${clock(request.answer.at)}`}
          {source?.fate !== undefined && ` · ${source.fate}`}
        </div>
      )}
    </div>
  );
}

/** Verbatim, never as Markdown, never cut. A diff shows the whole text of a file. */
function Action({ request }: { request: Request }): JSX.Element | null {
  const { action, answer, changes, path, facts, question, heading } = request;
  // The heading is the whole question.
  if (question !== undefined && action.text === heading.act) return null;
  return (
    <>
      {facts.again.length > 0 && (
        <div class="field">
          <h3>Why it is asked again</h3>
          <pre>
            {facts.again.map((line, i) => (
              <span key={i} class={line.startsWith('+ ') ? 'plus' : line.startsWith('- ') ? 'minus' : ''}>
                {line}
                {'\n'}
              </span>
            ))}
          </pre>
        </div>
      )}
      {answer?.edited !== undefined && (
        <div class="field">
          <h3>Approved instead, as you wrote it</h3>
          <pre>{visible(answer.edited)}</pre>
        </div>
      )}
      {changes.length > 0 && (
        <Diff lines={changes} path={path ?? ''} names={answer === undefined ? undefined : ['Before', 'As asked']} />
      )}
      {changes.length > 0 ? (
        <details class="fold">
          <summary>
            <Icon name="right" small /> The whole text of {action.key}
          </summary>
          <pre>{action.text}</pre>
        </details>
      ) : (
        <div class="field">
          <h3>{action.key}</h3>
          <pre>{action.text}</pre>
        </div>
      )}
    </>
  );
}

interface FooterProps {
  request: Request;
  source: RequestSource | undefined;
  answered: readonly Request[];
}

function Footer({ request, source, answered }: FooterProps): JSX.Element {
  const past = answered.filter(({ agent, answer }) => agent === request.agent && answer !== undefined);
  const yes = past.filter(({ answer }) => answer!.approved).length;
  return (
    <div class="ffoot">
      {request.session !== undefined && (
        <span>
          <Icon name="chat" small /> Asked in{' '}
          <a class="link" href={address('conversation', request.session)}>
            {visible(request.agent)}’s conversation{source?.turn === undefined ? '' : `, turn ${source.turn}`}
          </a>
        </span>
      )}
      <span>
        <Icon name="file" small /> In your editor{' '}
        <code>{source?.line === undefined ? request.place : `${request.place}:${source.line}`}</code>
      </span>
      {source !== undefined && source.attached.length > 0 && (
        <span>
          <Icon name="file" small /> Attached to its task{' '}
          {source.attached.map((name) => (
            <code key={name}>{name} </code>
          ))}
        </span>
      )}
      {past.length > 0 && (
        <span>
          <Icon name="history" small /> {plural(past.length, 'earlier request')} from {visible(request.agent)}: {yes}{' '}
          approved, {past.length - yes} rejected
        </span>
      )}
    </div>
  );
}

/** How many changed lines are below the edge of the screen. */
function useBelow(scroll: { current: HTMLDivElement | null }): number {
  const [below, setBelow] = useState(0);
  useLayoutEffect(() => {
    const box = scroll.current;
    if (box === null) return undefined;
    const look = (): void => {
      const edge = box.getBoundingClientRect().bottom;
      const lines = [...box.querySelectorAll('.dl.a, .dl.d')].filter((line) => line.getClientRects().length > 0);
      setBelow(lines.filter((line) => line.getBoundingClientRect().bottom > edge + 1).length);
    };
    look();
    box.addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      box.removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, []);
  return below;
}
