/**
 * The messages between the server and the page. Text is text: no field is HTML. Money is in whole
 * micro-dollars. Times are ISO; the page shows them in the browser's zone.
 */
import type { AgentState } from '../../domain/agent/agent-state.js';
import type { Usage as TaskUsage } from '../../domain/budget/usage.js';
import type { Problem } from '../../domain/problem.js';
import type { TaskState } from '../../domain/task/task.js';
import type { ShownFile, StoryStep } from './contract-pages.js';
import type { Row } from './contract-tasks.js';

export type * from './contract-pages.js';
export type * from './contract-tasks.js';

export interface Hello {
  /** Changes when the server is started again. */
  boot: string;
  /** The last change that this answer includes; the stream reports later ones. */
  cursor: string;
  /** The build of the page that this server serves. */
  assets: string;
  /** `shown`: the path with `~` for the home of the person. */
  workspace: { name: string; path: string; shown: string };
  readOnly: boolean;
  csrf: string;
  now: string;
  /** Processes that work here. Without any, answers wait for the next one. */
  processes: number;
  /** Keys that pending tasks need, and that the environment of this server does not have. */
  missingKeys: Problem[];
  /** The `guild watch` that this server started, and how it ended, if it has. */
  worker: { pid: number; later: string[] } | { ended: string } | null;
  counts: { requests: number; pending: number; active: number; waiting: number };
  spend: Spend;
  /** The scene of a demo that plays here. */
  story?: StoryStep;
}

export interface Spend {
  microUsd: number;
  tokens: number;
  /** Calls today whose price is not known; their cost is not in `microUsd`. */
  unpricedCalls: number;
  /** Absent if no open task has a limit in dollars. */
  budget?: DayBudget;
}

/** What today can cost at most if nothing else is added, in micro-dollars. */
export interface DayBudget {
  /** Spent today, and what open tasks may still spend. */
  limit: number;
  /** The part of it that open children hold. */
  reserved: number;
  /** How many open tasks have a limit, and how many have none. */
  tasks: number;
  unlimited: number;
}

export interface Hall {
  waiting: { count: number; oldestAt?: string; blocks: number; first: Request[] };
  agents: AgentNow[];
  idle: number;
  open: { pending: number; active: number; waiting: number };
  pending: { agent?: string; count: number; oldestAt: string }[];
  /** `last`: when the last one was resolved. */
  deadlocks: { now: number; resolved: number; last?: string };
  spend: Spend & { hours: number[]; since: string };
  ended: Row[];
  lanes: Lane[];
  lanesFrom: string;
  problems: Problem[];
}

export interface AgentNow {
  name: string;
  state: AgentState;
  why: string;
  task?: { id: string; title: string };
  since?: string;
  tokens: number;
  microUsd: number;
}

/** A turn that a process works on at this moment. It is in no file. */
export interface TurnNow {
  task: string;
  agent: string;
  since: string;
  /** The model's words in this turn; only the end of them if `isCut`. */
  words: string;
  isCut: boolean;
  tool?: { name: string; argument: string; line?: string };
  tokens: number;
  microUsd: number;
}

export interface TurnsChanged {
  turns: TurnNow[];
  /** Tasks that nobody works on now; `others`: all tasks that are not in `turns`. */
  ended: string[] | 'others';
}

export interface Lane {
  agent: string;
  spans: Span[];
}

export type SpanKind = 'model' | 'tool' | 'check' | 'bid' | 'wait' | 'you';

export interface Span {
  kind: SpanKind;
  start: string;
  /** Absent: still going on. */
  end?: string;
  label: string;
  ok?: boolean;
  tokens?: number;
  microUsd?: number;
  model?: string;
  turn?: number;
  /** How many spans this one stands for; absent: one. */
  n?: number;
}

/** The spans of a part of a run, by task. */
export interface TaskSpans {
  spans: Record<string, Span[]>;
}

/** A request as every surface draws it; text that could mislead a reader is already escaped. */
export interface Request {
  id: string;
  short: string;
  kind: 'command' | 'file' | 'agent' | 'message' | 'plan' | 'question' | 'rule' | 'other';
  title: string;
  agent: string;
  task?: { id: string; title: string };
  session?: string;
  createdAt: string;
  risk?: 'LOW' | 'MEDIUM' | 'HIGH';
  /** It came with the folder: none of its text is shown, and it cannot be answered. */
  isForeign?: true;
  /** The title in two parts: the program's words, and what an agent chose. */
  heading: { act: string; object: string };
  /** Everything besides the action that a person must know, in the program's words. */
  facts: { asked: string[]; runs: string; more: string[]; again: string[] };
  /** Risky or not confined: `y` alone does not approve it. */
  isGrave: boolean;
  /** Nothing confines what runs. */
  isUnconfined?: boolean;
  /** The rule that `always` would make; absent: none can be made. */
  rule?: string;
  /** Why no rule can be made of a command; absent if one can. */
  noRule?: string;
  /** A question is answered in words, or with one of its choices. */
  question?: { choices?: string[]; default?: string };
  /** Open requests for exactly the same action, this one included. */
  alike: number;
  /** The action, verbatim: the name of an argument and its text. */
  action: { key: string; text: string };
  /** The text that a person may change, as it is; absent if there is none. */
  editable?: string;
  /** Lines of a diff. */
  changes: string[];
  /** The file that the diff is about. */
  path?: string;
  taint: string[];
  /** Tasks that cannot continue before the answer. */
  blocks: { id: string; agent?: string }[];
  /** Identifies the shown text; an answer names it. */
  seen: string;
  place: string;
  /** `edited`: the person's own version, which ran instead. */
  answer?: { approved: boolean; by: string; at: string; reason?: string; text?: string; edited?: string };
  answeredAt?: string;
}

export interface Requests {
  open: Request[];
  answered: Request[];
}

export interface TaskDetail {
  row: Row;
  description: string;
  parents: Row[];
  taint: string[];
  result?: string;
  error?: Problem;
  certificate?: string;
  session?: string;
  usage: Usage;
  can: TaskAct[];
  tree: TreeRow[];
  /** Some spans are drawn as one. A closer view of a part can be read. */
  isMerged: boolean;
  place: string;
}

export type TaskAct = 'tell' | 'fork' | 'retry' | 'stop' | 'cancel';

export type Usage = Omit<TaskUsage, 'busyMs' | 'children'>;

export interface TreeRow extends Row {
  depth: number;
  /** Without the tasks below it. */
  own: { tokens: number; microUsd: number };
  spans: Span[];
  session?: string;
  /** Not a task: it sums up the bids below it. */
  isGroup?: boolean;
  /** A check that sent the work back. The task of the check is completed all the same. */
  isObjection?: boolean;
  /** Its outcome in two words, shown beside its bars. */
  caption?: string;
}

export interface Why {
  chain: string[];
  shares: string[];
  origin: string[];
  story: { at: string; text: string }[];
}

export interface Conversation {
  id: string;
  agent: string;
  /** What the agent does, whichever task it works on; absent if it has no file. */
  agentNow?: { state: AgentState; why: string; description: string };
  model?: string;
  status: string;
  /** The task that began it. */
  first?: { id: string; title: string };
  /** The last task that it worked on. */
  task?: { id: string; title: string; state: TaskState; code?: string };
  forkedFrom?: string;
  forks: { id: string; at: number }[];
  /** Paths that its tools wrote. */
  files: string[];
  taint: string[];
  total: number;
  /** The number of the first message in `messages`, from 1. */
  from: number;
  messages: ShownMessage[];
  /** The message with which a pending task will continue this conversation. */
  next?: { text: string; at: string };
  /** Goal checks of what was said here, oldest first. */
  checks: ShownCheck[];
  usage: Usage;
  /** What its task may spend, in micro-dollars; absent without a limit. */
  share?: number;
  place: string;
  /** Identifies the text of the file. */
  seen: string;
  problem?: Problem;
  /** The text of a file that cannot be read as a conversation. */
  text?: string;
}

export interface ShownCheck {
  task: string;
  /** The number of the message that it follows. */
  after: number;
  verdict: 'yes' | 'no' | 'none' | 'open';
  reason: string;
  at: string;
  model?: string;
  ms?: number;
  microUsd: number;
}

export interface ShownMessage {
  n: number;
  role: 'system' | 'user' | 'assistant' | 'tool';
  /** Who wrote it to the agent; absent: the person. */
  from?: string;
  /** It tells the agent what a goal check found. */
  isFromCheck?: boolean;
  kind?: string;
  /** Which answer of the model it is, from 1. */
  turn?: number;
  at?: string;
  text: string;
  /** Text that came from outside; it is shown in a separate box, without links. */
  tainted: boolean;
  calls: ShownCall[];
  files?: ShownFile[];
  /** What the model thought before it answered, if that is kept. */
  thoughts?: string;
  usage?: { model?: string; inputTokens: number; outputTokens: number; microUsd?: number; ms?: number };
}

export interface ShownCall {
  id: string;
  tool: string;
  arguments: string;
  /** The argument that says most: a path, a command, an agent. */
  main: string;
  /** The file that it writes, as a diff from the last version that this conversation wrote. */
  written?: { path: string; changes: string[] };
  result?: string;
  ok?: boolean;
  files?: ShownFile[];
}

/** The state and the code are those of its task. */
export interface SessionRow extends Partial<Pick<Row, 'state' | 'code'>> {
  id: string;
  agent: string;
  status: string;
  task?: string;
  title?: string;
  /** The conversation that it is a copy of, and the number of messages that were copied. */
  forkedFrom?: string;
  created: string;
}

/** Messages that have these words. */
export interface MessagesFound {
  found: MessageFound[];
  /** There may be more in other or older conversations. */
  isPartial: boolean;
}

export interface MessageFound {
  session: string;
  /** The number of the message, from 1. */
  n: number;
  agent: string;
  /** Of the task that the conversation is about. */
  title: string;
  /** The words, with some of the text around them. */
  text: string;
}

/** Everything that happened in a run, for a slider through time. */
export interface ReplayRun {
  task: { id: string; title: string };
  tree: TreeRow[];
  events: { at: string; name: string; task?: string; title?: string; agent?: string; text: string }[];
}

/**
 * An act of the person. `seen` identifies the text on the screen; `key` makes a repeat harmless.
 */
export interface IntentBody {
  key: string;
  kind: IntentKind;
  target: string;
  seen?: string;
  args?: Record<string, unknown>;
}

export const INTENT_KINDS = [
  'request.approve',
  'request.reject',
  'request.edit',
  'request.always',
  'request.answer',
  'task.add',
  'task.tell',
  'task.stop',
  'task.cancel',
  'task.retry',
  'task.fork',
  'session.edit',
  'agent.write',
  'board.set',
  'agent.pause',
  'agent.resume',
  'note.tell',
  'history.undo',
] as const;
export type IntentKind = (typeof INTENT_KINDS)[number];

export interface IntentDone {
  done: true;
  /** The new task or conversation, if the intent made one. */
  made?: { task?: string; session?: string };
}

/** 409: the screen was out of date. */
export interface Conflict {
  problem: Problem;
  /** The text as it is now. */
  theirs?: string;
  /** The digest to send with an answer to that text. */
  seen?: string;
}

/** One run for sharing: the answers that its pages would read, by path. */
export interface Exported {
  workspace: string;
  task: string;
  at: string;
  /** Describes the part that was left out. */
  about: string;
  hello: Hello;
  answers: Record<string, unknown>;
}
