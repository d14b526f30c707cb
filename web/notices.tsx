/** Lines above every page: what is wrong with this window, or what a demo is showing. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { connection, hello, isOut, isOutdated } from './api.ts';
import { moment } from './moment.ts';
import { place } from './router.ts';
import { clock, visible } from './text.ts';

export function Notices(): JSX.Element {
  const { worker, processes, readOnly, missingKeys } = hello.value!;
  return (
    <>
      <Disconnected />
      <Story />
      {isOut.value && (
        <div class="notice s-you" role="alert">
          This browser is no longer signed in: open the address that <code>guild ui --link</code> prints.
        </div>
      )}
      {isOutdated.value && (
        <div class="notice s-run" role="status">
          Guildhall was updated.{' '}
          <button type="button" class="btn sm" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      )}
      {worker !== null && 'ended' in worker && (
        <div class="notice s-fail" role="alert">
          guild watch, which this window started, has ended: {visible(worker.ended)}
        </div>
      )}
      {worker !== null && 'later' in worker && worker.later.length > 0 && (
        <div class="notice s-wait" role="status">
          guild.yaml changed. Its {worker.later.join(', ')} will count when you stop guild ui and start it again.
        </div>
      )}
      {worker !== null &&
        'later' in worker &&
        missingKeys.map(({ message, hint }) => (
          <div key={message} class="notice s-fail" role="alert">
            guild watch: {visible(message)}; {visible(hint ?? '')}
          </div>
        ))}
      {!readOnly && moment.value === undefined && processes === 0 && (worker === null || 'ended' in worker) && (
        <div class="notice s-wait">
          No process works on this workspace. Answers are kept, and guild watch acts on them.
        </div>
      )}
    </>
  );
}

const STORY_LINKS = {
  inbox: 'Open the Inbox',
  waits: 'Watch the wait graph',
  agents: 'See the agents',
  replay: 'Replay it',
};

/** A demo says what is happening, on every page. */
function Story(): JSX.Element | null {
  const { story } = hello.value!;
  if (story === undefined) return null;
  const { text, page, isOver = false } = story;
  const isElsewhere = page !== undefined && place.value.page !== page;
  return (
    <div class={`notice story ${page === 'inbox' ? 's-you' : isOver ? 's-done' : 's-run'}`} role="status">
      <b>{isOver ? 'The end' : 'Demo'}</b>
      <span>{text}</span>
      {isElsewhere && (
        <a class="btn sm" href={`#/${page}`}>
          {STORY_LINKS[page]}
        </a>
      )}
    </div>
  );
}

const PATIENCE_MS = 2000;

/** Only after a moment: a short loss needs no words. */
function Disconnected(): JSX.Element | null {
  const { value } = connection;
  const [, look] = useState(0);
  useEffect(() => {
    if (value.live) return undefined;
    const timer = setInterval(() => look(Date.now()), 500);
    return () => clearInterval(timer);
  }, [value.live]);
  if (value.live || Date.now() - value.since < PATIENCE_MS) return null;
  const seconds = Math.max(0, Math.ceil((value.retryAt - Date.now()) / 1000));
  return (
    <div class="notice s-you" role="alert">
      Disconnected at {clock(new Date(value.since).toISOString())}.{' '}
      {seconds === 0 ? 'Trying again' : `Retrying in ${seconds} s`}. You can read on; nothing can be sent.
    </div>
  );
}
