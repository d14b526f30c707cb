/** The buttons below a request; each has the key that does the same. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { IntentKind, Request } from '../../src/web/base/contract.ts';
import { SEND_KEY, useKeys } from '../keys.ts';
import { ActButton } from '../parts.tsx';
import { plural } from '../text.ts';
import { mayAnswer } from './answers.ts';
import { changedLines } from './diff.tsx';
import { QuestionBar } from './question.tsx';

type Mode = 'look' | 'reject' | 'edit' | 'sure' | 'always';

export interface BarProps {
  request: Request;
  answer: (kind: IntentKind, args?: Record<string, unknown>) => Promise<void>;
  move: (by: number) => void;
  /** The number of changed lines below the edge of the screen. */
  below: number;
}

export function AnswerBar(props: BarProps): JSX.Element {
  const { request, answer } = props;
  const [mode, setMode] = useState<Mode>('look');
  const { editable } = request;
  const back = (): void => setMode('look');
  if (mode === 'reject')
    return (
      <Write
        label="Why not? The agent reads this."
        start=""
        act="Reject"
        cancel={back}
        done={(reason) => answer('request.reject', { reason }).then(back)}
      />
    );
  if (mode === 'edit' && editable !== undefined)
    return (
      <Write
        label={`Your version of ${request.action.key}. It is used exactly as you write it.`}
        start={editable}
        act="Approve this"
        cancel={back}
        done={(text) => answer('request.edit', { text }).then(back)}
      />
    );
  if (request.question !== undefined) return <QuestionBar {...props} decline={() => setMode('reject')} />;
  return <Choices {...props} mode={mode} setMode={setMode} />;
}

function Choices({
  request,
  answer,
  move,
  below,
  mode,
  setMode,
}: BarProps & { mode: Mode; setMode: (mode: Mode) => void }): JSX.Element {
  const { editable, isGrave, rule, alike, kind } = request;
  const approve = (): void => void answer('request.approve');
  const begin = (): void => {
    if (!mayAnswer(request)) return;
    if (isGrave) setMode('sure');
    else approve();
  };
  useKeys({
    y: begin,
    n: () => mayAnswer(request) && setMode('reject'),
    e: () => mayAnswer(request) && editable !== undefined && setMode('edit'),
    a: () => mayAnswer(request) && rule !== undefined && setMode('always'),
    s: () => move(1),
    ...(mode === 'look' ? {} : { Escape: () => setMode('look') }),
    Enter: () => {
      if (!mayAnswer(request)) return;
      if (mode === 'sure') approve();
      if (mode === 'always') void answer('request.always');
    },
  });
  if (mode === 'always' && rule !== undefined)
    return (
      <Rule rule={rule} isGrave={isGrave} cancel={() => setMode('look')} done={() => void answer('request.always')} />
    );
  return (
    <div class="abar">
      {mode === 'sure' ? (
        // A double click on Approve is one decision.
        <ActButton class="btn danger" onClick={({ detail }) => detail < 2 && approve()}>
          Really approve <kbd>Enter</kbd>
        </ActButton>
      ) : (
        <ActButton class="btn pri" onClick={() => begin()}>
          Approve <kbd>Y</kbd>
        </ActButton>
      )}
      <ActButton class="btn" onClick={() => setMode('reject')}>
        Reject… <kbd>N</kbd>
      </ActButton>
      {editable !== undefined && (
        <ActButton class="btn" onClick={() => setMode('edit')}>
          Edit <kbd>E</kbd>
        </ActButton>
      )}
      {alike > 1 && (
        <ActButton
          class="btn"
          disabled={isGrave && mode !== 'sure'}
          title={isGrave ? 'Press Y first' : 'Every open request for exactly this action'}
          onClick={() => void answer('request.approve', { alike: true })}
        >
          Approve all {alike} like this
        </ActButton>
      )}
      {kind === 'command' && mode !== 'sure' && (
        <ActButton
          class="btn ghost wideonly"
          disabled={rule === undefined}
          title={aboutRule(request)}
          onClick={() => setMode('always')}
        >
          Always… <kbd>A</kbd>
        </ActButton>
      )}
      <button type="button" class="btn ghost" onClick={() => move(1)}>
        Skip <kbd>S</kbd>
      </button>
      <span class="r">{aboutBar(request, below)}</span>
    </div>
  );
}

function aboutRule({ rule, noRule }: Request): string {
  if (rule !== undefined) return 'Shows the rule first';
  return noRule === undefined ? 'No rule can be made of this' : `No rule can be made: ${noRule}`;
}

function aboutBar({ noRule, changes }: Request, below: number): string {
  const { added, removed } = changedLines(changes);
  const all = added + removed;
  const lines =
    all === 0
      ? ''
      : below > 0
        ? `${plural(below, 'changed line')} below`
        : `all ${plural(all, 'changed line')} ${all === 1 ? 'is' : 'are'} shown`;
  return [noRule === undefined ? '' : `No “always”: ${noRule}`, lines].filter((part) => part !== '').join(' · ');
}

/** The rule is shown before it is made. */
function Rule(props: { rule: string; isGrave: boolean; cancel: () => void; done: () => void }): JSX.Element {
  return (
    <div class="abar write">
      <p>
        This rule goes into <code>storage/terminal-cmd-allowlist.yaml</code>. Exactly this command then runs without
        asking:
      </p>
      <pre class="file">{props.rule}</pre>
      <span class="acts">
        <button type="button" class="btn" onClick={props.cancel}>
          Back <kbd>Esc</kbd>
        </button>
        <button type="button" class={props.isGrave ? 'btn danger' : 'btn pri'} onClick={props.done}>
          Approve now and always <kbd>Enter</kbd>
        </button>
      </span>
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
  useLayoutEffect(() => box.current?.focus(), []);
  const finish = (): void => void done(box.current?.value ?? '');
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') cancel();
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) finish();
  };
  return (
    <div class="abar write">
      <label>
        {label}
        <textarea
          ref={box}
          class={start === '' ? '' : 'code'}
          rows={start === '' ? 2 : 8}
          defaultValue={start}
          onKeyDown={onKey}
        />
      </label>
      <span class="acts">
        <button type="button" class="btn" onClick={cancel}>
          Cancel <kbd>Esc</kbd>
        </button>
        <button type="button" class="btn pri" onClick={finish}>
          {act} <kbd>{SEND_KEY}</kbd>
        </button>
      </span>
    </div>
  );
}
