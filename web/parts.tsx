/** Small parts that every page uses. Text of agents goes through `visible` and is never markup. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AgentState } from '../src/domain/agent/agent-state.ts';
import type { Problem } from '../src/domain/problem.ts';
import type { Row, TreeRow } from '../src/web/base/contract.ts';
import { isAdding } from './adding.ts';
import { hello, connection, type Read, type Sent } from './api.ts';
import { Icon, type IconName } from './icons.tsx';
import { moment } from './moment.ts';
import { address } from './router.ts';
import { visible } from './text.ts';

export interface Look {
  word: string;
  icon: IconName;
  tone: string;
}

const TASK: Record<string, Look> = {
  pending: { word: 'Pending', icon: 'pending', tone: 's-off' },
  active: { word: 'Active', icon: 'run', tone: 's-run' },
  waiting: { word: 'Waiting', icon: 'wait', tone: 's-wait' },
  completed: { word: 'Completed', icon: 'done', tone: 's-done' },
  failed: { word: 'Failed', icon: 'fail', tone: 's-fail' },
};
const OBJECTION: Look = { word: 'The check says no', icon: 'fail', tone: 's-fail' };
const YOURS: Look = { word: 'Needs you', icon: 'you', tone: 's-you' };
const CANCELLED: Look = { word: 'Cancelled', icon: 'cancel', tone: 's-off' };

const AGENT: Record<AgentState, Look> = {
  idle: { word: 'Idle', icon: 'idle', tone: 's-off' },
  working: { word: 'Working', icon: 'run', tone: 's-run' },
  blocked: { word: 'Blocked', icon: 'block', tone: 's-wait' },
  waiting: { word: 'Free', icon: 'free', tone: 's-acc' },
  complete: { word: 'Complete', icon: 'done', tone: 's-done' },
  error: { word: 'Error', icon: 'warn', tone: 's-fail' },
  paused: { word: 'Paused', icon: 'pause', tone: 's-off' },
};

type Stated = Pick<Row, 'state' | 'agent' | 'code'> & Pick<TreeRow, 'isObjection'>;

export function taskLook({ state, agent, code, isObjection = false }: Stated): Look {
  if (isObjection) return OBJECTION;
  const isOpen = state !== 'completed' && state !== 'failed';
  return agent === 'human' && isOpen ? YOURS : code === 'cancelled' ? CANCELLED : TASK[state]!;
}

export function agentLook(state: AgentState): Look {
  return AGENT[state];
}

interface TaskStateProps {
  row: Stated;
  plain?: boolean;
  /** The word only for those who cannot see the icon. */
  brief?: boolean;
}

export function TaskState({ row, plain = false, brief = false }: TaskStateProps): JSX.Element {
  const look = taskLook(row);
  return <StateChip look={look} plain={plain} title={visible(row.code ?? look.word)} isBrief={brief} />;
}

/** Why the agent is in its state; for a blocked agent the text begins with "for". */
export function reason({ state, why }: { state: AgentState; why: string }): string {
  return state === 'blocked' && why.startsWith('for ') ? `waits ${visible(why)}` : visible(why);
}

export function AgentChip({ state }: { state: AgentState }): JSX.Element {
  return <StateChip look={AGENT[state]} plain={false} title={state} isBrief={false} />;
}

interface StateChipProps {
  look: Look;
  plain: boolean;
  title: string;
  isBrief: boolean;
}

function StateChip({ look, plain, title, isBrief }: StateChipProps): JSX.Element {
  const spin = look.icon === 'run' ? ' turning' : '';
  return (
    <span class={`chip ${look.tone}${plain ? ' plain' : ''}${spin}`} title={title}>
      <Icon name={look.icon} />
      <span class={isBrief ? 'vh' : ''}>{look.word}</span>
    </span>
  );
}

export function Taint({ sources }: { sources: readonly string[] }): JSX.Element {
  return (
    <>
      {sources.map((source) => (
        <span key={source} class="chip s-taint" title="Text from outside influenced this">
          <Icon name="drop" />
          {visible(source)}
        </span>
      ))}
    </>
  );
}

export function Panel(props: {
  title: string;
  count?: number;
  about?: string;
  side?: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="panel">
      <header>
        <h2>{props.title}</h2>
        {props.count !== undefined && <span class="n">{props.count}</span>}
        {props.about !== undefined && <span class="n">{props.about}</span>}
        {props.side !== undefined && <span class="r">{props.side}</span>}
      </header>
      {props.children}
    </section>
  );
}

export function Figure(props: {
  icon: IconName;
  name: string;
  value: string;
  unit?: string;
  about: string;
  /** The colour of the value. */
  tone?: string | undefined;
}): JSX.Element {
  return (
    <div class={`fig ${props.tone ?? ''}`}>
      <span class="k">
        <Icon name={props.icon} small />
        {props.name}
      </span>
      <span class="v">
        {props.value}
        {props.unit !== undefined && <small>{props.unit}</small>}
      </span>
      <span class="d">{props.about}</span>
    </div>
  );
}

export function Empty({
  icon,
  title,
  children,
}: {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <Icon name={icon} />
      <b>{title}</b>
      {children}
    </div>
  );
}

/** The same problem as in the terminal: message, place, source line with caret, next step. */
export function ProblemBox({ problem }: { problem: Problem }): JSX.Element {
  const { where } = problem;
  const place = where === undefined ? '' : [where.file, where.line, where.column].filter(Boolean).join(':');
  return (
    <div class="banner s-fail" role="alert">
      <Icon name="warn" />
      <div class="x">
        <b>{visible(problem.message)}</b>
        {place !== '' && <code> {visible(place)}</code>}
        {where?.source !== undefined && <Source text={where.source} column={where.column} />}
        {problem.hint !== undefined && <small>{visible(problem.hint)}</small>}
      </div>
    </div>
  );
}

/** The caret belongs to its character, so that it stays below it if the line is broken. */
function Source({ text, column }: { text: string; column: number | undefined }): JSX.Element {
  if (column === undefined) return <pre>{visible(text)}</pre>;
  const at = column - 1;
  const char = /^./su.exec(text.slice(at))?.[0] ?? ' ';
  return (
    <pre>
      {visible(text.slice(0, at))}
      <span class="fault">{visible(char)}</span>
      {visible(text.slice(at + char.length))}
    </pre>
  );
}

export function TaskLink({ id, title }: { id: string; title: string }): JSX.Element {
  return (
    <a class="link one" href={address('task', id)}>
      {visible(title) || id}
    </a>
  );
}

export function Id({ id, short }: { id: string; short: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    void navigator.clipboard?.writeText(id).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1200);
    });
  };
  return (
    <button type="button" class="id" title={`Copy ${id}`} onClick={copy}>
      {copied ? 'copied' : visible(short)}
    </button>
  );
}

/** Whether an intent can be sent now; otherwise why not. */
export function whyNot(): string | undefined {
  if (hello.value?.readOnly) return 'This window only shows the workspace.';
  if (moment.value !== undefined) return 'This is the past. Go back to now to act.';
  return connection.value.live ? undefined : 'The server cannot be reached.';
}

/** A button of an intent: absent in a read-only window, disabled while nothing can be sent. */
export function ActButton({ disabled = false, title, ...rest }: JSX.IntrinsicElements['button']): JSX.Element | null {
  if (hello.value?.readOnly === true) return null;
  const off = whyNot();
  return <button type="button" {...rest} disabled={disabled === true || off !== undefined} title={off ?? title} />;
}

/** The outcome of the last intent, as long as it needs a person. */
export function Refused({ sent }: { sent: Sent | undefined }): JSX.Element | null {
  return sent === undefined || sent.ok ? null : <ProblemBox problem={sent.problem} />;
}

/**
 * Placeholder bars in the shape of rows. They appear after a moment, so that quick answers do not
 * flicker.
 */
export function Still({ rows = 4 }: { rows?: number }): JSX.Element {
  return (
    <div class="still" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} class="sk" />
      ))}
    </div>
  );
}

interface LoadedProps<T> {
  read: Read<T>;
  rows?: number;
  children: (data: T) => ComponentChildren;
}

/** The answer of a read with its problem above it; placeholder bars while there is neither. */
export function Loaded<T>({ read: { data, problem }, rows = 8, children }: LoadedProps<T>): JSX.Element {
  return (
    <>
      {problem.value !== undefined && <ProblemBox problem={problem.value} />}
      {data.value !== undefined ? children(data.value) : problem.value === undefined && <Still rows={rows} />}
    </>
  );
}

/** The same for a page that shows nothing else. */
export function LoadedPage<T>({ read, rows = 8, children }: LoadedProps<T>): JSX.Element {
  if (read.data.value !== undefined) return <>{children(read.data.value)}</>;
  return (
    <div class="page">
      <Loaded read={read} rows={rows}>
        {children}
      </Loaded>
    </div>
  );
}

interface SegmentsProps<T> {
  label: string;
  of: readonly (readonly [name: string, value: T])[];
  chosen: T;
  choose(value: T): void;
}

/** A row of buttons, one of which is pressed. */
export function Segments<T>({ label, of, chosen, choose }: SegmentsProps<T>): JSX.Element {
  return (
    <span class="seg" role="group" aria-label={label}>
      {of.map(([name, value]) => (
        <button key={name} type="button" aria-pressed={value === chosen} onClick={() => choose(value)}>
          {name}
        </button>
      ))}
    </span>
  );
}

export function NewTaskButton(): JSX.Element {
  return (
    <ActButton class="btn" onClick={() => (isAdding.value = true)}>
      <Icon name="plus" />
      <span class="vhphone">New task</span> <kbd>C</kbd>
    </ActButton>
  );
}
