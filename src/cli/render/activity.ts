/**
 * Keeps track of who works on what, from events and progress: agent, title, time, tokens, cost, the
 * tool that runs and the last result. Every live display draws from this.
 */
import { callCost, type Event } from '../../domain/event.js';
import type { LiveTurn } from '../../domain/live-turn.js';
import type { Progress } from '../../domain/progress.js';
import { kinIn } from '../../domain/task/lineage.js';
import { HUMAN } from '../../domain/task/task.js';
import { partialMoneyText } from '../../domain/budget/usage.js';
import { whoText } from '../../views/who.js';

export interface Working {
  id: string;
  agent: string;
  title: string;
  state: 'open' | 'working' | 'waiting' | 'done' | 'failed';
  isYours: boolean;
  /** When it was last taken, in epoch milliseconds. */
  sinceMs: number;
  tokens: number;
  microUsd: number;
  unpriced: number;
  tool?: { name: string; argument: string };
  lastArgument: string;
  result?: { ok: boolean; line: string };
  /** The end of the model's words. */
  words: string;
  /** The reason for a failure, until the work continues. */
  note: string;
  /** Another process works on it. */
  isElsewhere: boolean;
  /** An event of this process was about it. */
  isKnown: boolean;
}

export interface Activity {
  event(event: Event): void;
  /** `turn`: it happens in another process, in this turn. */
  progress(progress: Progress, turn?: LiveTurn): void;
  turn(turn: LiveTurn): void;
  /** Another process has stopped working on it. */
  gone(id: string): void;
  get(id: string): Working | undefined;
  /** Parents before their children. */
  tree(): { task: Working; depth: number }[];
  remove(root: string): void;
  rootOf(id: string): string;
  parentOf(id: string): string | undefined;
  levelOf(id: string): number;
}

/** More of a stream than the widest line can show. */
const MAX_WORDS = 500;
/**
 * Events that add a task. All others only update shown tasks, so a cancelled task does not
 * reappear.
 */
const OPENS = new Set<Event['name']>(['task.created', 'task.claimed', 'task.parked', 'task.recovered', 'task.retried']);

export function activity(titleOf: (id: string) => string | undefined): Activity {
  const tasks = new Map<string, Working>();
  const kin = kinIn();
  return {
    rootOf: kin.rootOf,
    parentOf: kin.parentOf,
    levelOf: kin.levelOf,
    get: (id) => tasks.get(id),
    event(event) {
      const id = event.task;
      if (id === undefined) return;
      kin.see(event);
      const isEnd = event.name === 'task.completed' || event.name === 'task.failed';
      const task = tasks.get(id) ?? (isEnd || OPENS.has(event.name) ? fresh(id) : undefined);
      if (task === undefined) return;
      if (event.agent) task.agent = event.agent === 'nobody' ? '?' : whoText(event.agent);
      if (task.title === '') task.title = titleOf(id) ?? '';
      task.isYours = event.agent === HUMAN || task.isYours;
      task.isKnown = true;
      apply(task, event);
      tasks.set(id, task);
    },
    progress(now, turn) {
      const task = tasks.get(now.task) ?? fresh(now.task);
      task.isElsewhere = turn !== undefined;
      if (turn !== undefined) task.sinceMs = Date.parse(turn.since);
      task.agent = whoText(now.agent);
      task.state = 'working';
      task.note = '';
      if (task.title === '') task.title = titleOf(now.task) ?? '';
      if (now.kind === 'words') task.words = (task.words + now.text).slice(-MAX_WORDS);
      else task.words = '';
      if (now.kind === 'tool') {
        task.tool = { name: now.tool, argument: now.argument };
        task.lastArgument = now.argument;
      }
      if (now.kind === 'report') task.tool = { name: now.tool, argument: now.line };
      if (now.kind === 'thinking' || now.kind === 'result') delete task.tool;
      if (now.kind === 'result') task.result = { ok: now.ok, line: now.line };
      tasks.set(now.task, task);
    },
    turn(turn) {
      const task = tasks.get(turn.task) ?? fresh(turn.task);
      const { tokens, microUsd, unpriced, tool, result } = turn;
      Object.assign(task, { tokens, microUsd, unpriced, state: 'working', isElsewhere: true, note: '' });
      task.agent = whoText(turn.agent);
      task.sinceMs = Date.parse(turn.since);
      task.words = turn.words.slice(-MAX_WORDS);
      task.lastArgument = tool?.argument ?? result?.argument ?? '';
      if (tool !== undefined) task.tool = { name: tool.name, argument: tool.line ?? tool.argument };
      if (result !== undefined) task.result = { ok: result.ok, line: result.line };
      tasks.set(turn.task, task);
    },
    gone(id) {
      const task = tasks.get(id);
      if (!task?.isElsewhere) return;
      if (!task.isKnown) return void tasks.delete(id);
      Object.assign(task, { isElsewhere: false, state: 'open', words: '' });
    },
    tree() {
      const roots: Working[] = [];
      const children = new Map<string, Working[]>();
      for (const task of tasks.values()) {
        const parent = kin.parentOf(task.id) ?? '';
        if (!tasks.has(parent)) roots.push(task);
        else if (children.get(parent)?.push(task) === undefined) children.set(parent, [task]);
      }
      const below = (task: Working, depth: number): { task: Working; depth: number }[] => [
        { task, depth },
        ...(children.get(task.id) ?? []).flatMap((child) => below(child, depth + 1)),
      ];
      return roots.flatMap((root) => below(root, 0));
    },
    remove(root) {
      for (const id of tasks.keys()) if (kin.rootOf(id) === root) tasks.delete(id);
    },
  };

  function fresh(id: string): Working {
    return {
      id,
      agent: '',
      title: titleOf(id) ?? '',
      state: 'open',
      isYours: false,
      sinceMs: Date.now(),
      tokens: 0,
      microUsd: 0,
      unpriced: 0,
      words: '',
      lastArgument: '',
      note: '',
      isElsewhere: false,
      isKnown: false,
    };
  }
}

function apply(task: Working, event: Event): void {
  switch (event.name) {
    case 'task.claimed':
      Object.assign(task, { state: 'working', sinceMs: Date.now(), isElsewhere: false, note: '' });
      return;
    case 'task.created':
    case 'task.retried':
    case 'task.released':
      task.state = 'open';
      return;
    case 'task.parked':
      task.state = 'waiting';
      task.words = '';
      return;
    case 'task.completed':
      task.state = 'done';
      return;
    case 'task.failed':
      task.state = 'failed';
      task.note = (event['error'] as { message?: string } | undefined)?.message ?? '';
      return;
    case 'model.answered': {
      const { inputTokens, outputTokens, microUsd, isUnpriced } = callCost(event);
      task.tokens += inputTokens + outputTokens;
      task.microUsd += microUsd;
      if (isUnpriced) task.unpriced++;
      return;
    }
    case 'model.failed':
      task.note = String(event['message'] ?? '');
      return;
    default:
  }
}

/** `12 s · 1.2k tokens · $0.0012`. */
export function spentText(
  task: Pick<Working, 'sinceMs' | 'tokens' | 'microUsd' | 'unpriced'>,
  now = Date.now(),
): string {
  const parts = [elapsedText(now - task.sinceMs)];
  if (task.tokens > 0) parts.push(`${amountText(task.tokens)} tokens`);
  if (task.microUsd > 0) parts.push(partialMoneyText(task.microUsd, task.unpriced));
  return parts.join(' · ');
}

export function elapsedText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.floor(minutes / 1440)} days`;
}

function amountText(count: number): string {
  if (count < 1000) return String(count);
  if (count < 100_000) return `${(count / 1000).toFixed(1)}k`;
  return count < 10_000_000 ? `${Math.round(count / 1000)}k` : `${Math.round(count / 1_000_000)}M`;
}

export function doingText({ state, tool, words, result, note, isYours }: Working): string {
  if (isYours) return 'waits for you';
  if (tool !== undefined) return `${tool.name} ${tool.argument}`.trim();
  if (words.trim() !== '') return `“${words.replace(/\s+/g, ' ')}`;
  if (state === 'waiting') return 'waits';
  if (note !== '') return note;
  if (state !== 'working') return '';
  return result === undefined ? 'thinking' : `thinking · ${result.line}`;
}
