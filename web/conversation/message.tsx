/** One message with its tool calls, edited in place or forked from. */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Conversation, ShownCall, ShownFile, ShownMessage } from '../../src/web/base/contract.ts';
import { sizeText } from '../../src/domain/file-ref.ts';
import { send, type Sent } from '../api.ts';
import { Ask } from '../ask.tsx';
import { ConflictView } from '../conflict.tsx';
import { Icon } from '../icons.tsx';
import { SEND_KEY, useKeys } from '../keys.ts';
import { Fenced } from './fenced.tsx';
import { Markdown } from '../markdown.tsx';
import { ActButton, Refused, whyNot } from '../parts.tsx';
import { Diff } from '../request/diff.tsx';
import { address, go } from '../router.ts';
import { WholeText } from '../whole-text.tsx';
import { clock, duration, money, plural, visible } from '../text.ts';

interface MessageProps {
  message: ShownMessage;
  talk: Conversation;
  /** By keyboard: `e` edits it, `f` forks here. */
  isChosen?: boolean;
}

export function Message({ message, talk, isChosen = false }: MessageProps): JSX.Element {
  const [act, setAct] = useState<'edit' | 'fork'>();
  const [sent, setSent] = useState<Sent>();
  const { role, from, isFromCheck = false } = message;
  const isAgent = role === 'assistant';
  const source = `sessions/${encodeURIComponent(talk.id)}`;
  const who = isAgent ? talk.agent : isFromCheck ? 'Goal check' : (from ?? (role === 'user' ? 'You' : role));
  const fork = async (text: string): Promise<void> => setSent(await forkHere(talk, message, text));
  const begin = (next: 'edit' | 'fork'): void => void (whyNot() === undefined && setAct(next));
  useKeys(isChosen ? { e: () => begin('edit'), f: () => begin('fork') } : {});
  return (
    <article class={`msg${isAgent ? '' : ' in'}${isChosen ? ' on' : ''}`} id={`m${message.n}`}>
      <span class={isAgent ? 'av s-run' : isFromCheck ? 'av s-check' : 'av'}>
        {isFromCheck ? <Icon name="shield" small /> : visible(who.slice(0, 1).toUpperCase())}
      </span>
      <div class="body">
        <div class="who">
          <b>{visible(who)}</b>
          {message.at !== undefined && <time>{clock(message.at)}</time>}
          {message.kind !== undefined && <span>{visible(message.kind.replaceAll('_', ' '))}</span>}
          {message.n === 1 && talk.task !== undefined && <span>task brief</span>}
          <Cost message={message} />
          <span class="hoveracts">
            <ActButton class="btn sm ghost" onClick={() => setAct('edit')}>
              <Icon name="edit" small /> Edit {isChosen && <kbd>E</kbd>}
            </ActButton>
            <ActButton class="btn sm ghost" onClick={() => setAct('fork')}>
              <Icon name="fork" small /> Fork from here {isChosen && <kbd>F</kbd>}
            </ActButton>
          </span>
        </div>
        <Refused sent={sent} />
        {message.thoughts !== undefined && <Thoughts text={message.thoughts} />}
        {act === 'edit' ? (
          <Edit message={message} talk={talk} close={() => setAct(undefined)} />
        ) : (
          <div class={message.tainted ? 'txt data' : 'txt'}>
            {isAgent ? (
              <Markdown text={message.text} links={talk.taint.length === 0} />
            ) : (
              <Fenced text={message.text} isOutside={talk.taint.length > 0} />
            )}
          </div>
        )}
        <Files files={message.files} />
        {!isAgent && <WholeText of={source} text={message.text} />}
        {message.calls.map((call) => (
          <Call key={call.id} call={call} source={source} />
        ))}
      </div>
      {act === 'fork' && (
        <Ask
          title="Fork…"
          label="The next message to the agent. The conversation so far is copied; this one stays as it is."
          close={() => setAct(undefined)}
          done={fork}
        />
      )}
    </article>
  );
}

/** The bytes stay in the store: a name, a type and a size can do no harm. */
function Files({ files = [] }: { files?: ShownFile[] | undefined }): JSX.Element | null {
  if (files.length === 0) return null;
  return (
    <ul class="attached" aria-label="Attached files">
      {files.map(({ name, mediaType, bytes }, i) => (
        <li key={i}>
          <Icon name="file" small /> <code>{visible(name)}</code>
          <span class="dim">
            {visible(mediaType)}, {sizeText(bytes)}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The model's thoughts. They are text of a model, so they are never markup. */
function Thoughts({ text }: { text: string }): JSX.Element {
  return (
    <details class="fold thoughts">
      <summary>
        <Icon name="right" small />
        <Icon name="model" />
        <b>Thoughts</b>
        <span class="one dim">{visible(text.trim().split('\n', 1)[0]!)}</span>
        <span class="r">{plural(text.trim().split(/\s+/).length, 'word')}</span>
      </summary>
      <p class="pre b">{visible(text)}</p>
    </details>
  );
}

function Cost({ message: { turn, usage } }: { message: ShownMessage }): JSX.Element | null {
  if (usage === undefined) return null;
  return (
    <span>
      {turn === undefined ? '' : `turn ${turn}, `}
      {usage.model === undefined ? '' : `${visible(usage.model)}, `}
      {usage.inputTokens} in, {usage.outputTokens} out{usage.ms === undefined ? '' : `, ${duration(usage.ms)}`}
      {usage.microUsd === undefined ? '' : `, ${money(usage.microUsd)}`}
    </span>
  );
}

async function forkHere(talk: Conversation, message: ShownMessage, text: string): Promise<Sent> {
  const result = await send('task.fork', talk.id, { at: message.n, text });
  if (result.ok && result.made?.session !== undefined) go(address('conversation', result.made.session));
  return result;
}

/** The same fence as an editor's save: a file that changed meanwhile is not overwritten. */
function Edit({ message, talk, close }: Pick<MessageProps, 'message' | 'talk'> & { close: () => void }): JSX.Element {
  const box = useRef<HTMLTextAreaElement>(null);
  const [sent, setSent] = useState<Sent>();
  // The state on the screen when editing began, even if new messages arrive meanwhile.
  const seen = useRef(talk.seen);
  const text = (): string => box.current?.value ?? message.text;
  useLayoutEffect(() => box.current?.focus(), []);
  const save = async (): Promise<void> => {
    const result = await send('session.edit', talk.id, { n: message.n, text: text() }, seen.current);
    setSent(result);
    if (result.ok) close();
  };
  const saveAsFork = async (): Promise<void> => setSent(await forkHere(talk, message, text()));
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') close();
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void save();
  };
  const isConflict = sent?.ok === false && sent.theirs !== undefined;
  const fence = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isConflict) fence.current?.scrollIntoView({ block: 'end' });
  }, [isConflict]);
  return (
    <div class="fence" ref={fence}>
      <textarea
        ref={box}
        rows={Math.min(20, message.text.split('\n').length + 1)}
        defaultValue={message.text}
        aria-label={`Message ${message.n}`}
        onKeyDown={onKey}
      />
      <Refused sent={sent} />
      {isConflict && (
        <ConflictView
          mine={text()}
          theirs={sent.theirs!}
          acts={[
            { name: 'Use theirs', act: close },
            { name: 'Save mine as a fork', act: () => void saveAsFork(), isMain: true },
          ]}
        />
      )}
      {!isConflict && (
        <div class="fencefoot">
          <span class="dim">
            <Icon name="edit" small /> Editing. {visible(talk.agent)} continues from what the file says.
          </span>
          <span class="acts">
            <button type="button" class="btn sm" onClick={close}>
              Cancel <kbd>Esc</kbd>
            </button>
            <button type="button" class="btn sm" onClick={() => void saveAsFork()}>
              Save as fork
            </button>
            <ActButton class="btn sm pri" onClick={() => void save()}>
              Save <kbd>{SEND_KEY}</kbd>
            </ActButton>
          </span>
        </div>
      )}
    </div>
  );
}

/** A tool call: folded to its argument and outcome. The result is data from outside. */
function Call({ call, source }: { call: ShownCall; source: string }): JSX.Element {
  const line = call.result?.trim().split('\n', 1)[0] ?? '';
  return (
    <details class="fold">
      <summary>
        <Icon name="right" small />
        <Icon name={call.tool === 'execute_command' ? 'term' : 'file'} />
        <b>{visible(call.tool)}</b>
        <code class="one">{visible(call.main)}</code>
        <span class="r one">
          {call.ok === undefined ? (
            'no result yet'
          ) : (
            <span class={call.ok ? 'ok' : 'bad'}>
              <Icon name={call.ok ? 'done' : 'fail'} small /> {visible(line) || (call.ok ? 'done' : 'failed')}
            </span>
          )}
        </span>
      </summary>
      {call.written === undefined ? (
        <pre>{visible(call.arguments)}</pre>
      ) : (
        <Diff lines={call.written.changes} path={call.written.path} names={['Before', 'After']} />
      )}
      {call.result !== undefined && <pre class="data">{visible(call.result)}</pre>}
      <WholeText of={source} text={call.result} />
      <Files files={call.files} />
    </details>
  );
}
