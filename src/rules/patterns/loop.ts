/**
 * Detects an agent that repeats itself: the same calls with the same results three turns in a row,
 * or eight turns that change nothing and only repeat each other; or turns in a row whose calls all
 * failed. Only the last turns are read.
 */
import { INFORMING, type Message, type MessageKind } from '../../domain/session/session.js';

export interface Loop {
  /** Names the repeated work, for people and models. */
  what: string;
  /** The agent was warned before and continued. */
  warned: boolean;
}

const SAME_TURNS = 3;
const IDLE_TURNS = 8;
/** At most this many different turns among the idle ones; all other turns are repetitions. */
const MAX_DISTINCT = 3;

/** `changes`: whether a tool of this name can change anything. */
export function loopIn(messages: readonly Message[], changes: (tool: string) => boolean): Loop | undefined {
  const { turns, warned } = lastTurns(messages);
  const last = turns[0];
  if (last === undefined) return undefined;
  const same = turns.slice(0, SAME_TURNS);
  if (same.length === SAME_TURNS && same.every((turn) => turn.print === last.print)) {
    return { what: `${names([last])} with the same arguments and the same result`, warned };
  }
  const isIdle = turns.length === IDLE_TURNS && !turns.some((turn) => turn.names.some(changes));
  if (isIdle && new Set(turns.map((turn) => turn.print)).size <= MAX_DISTINCT)
    return { what: `${names(turns)}, repeatedly, without changing anything`, warned };
  return undefined;
}

/**
 * After this many turns in a row without a successful call the agent is warned, and later fails.
 */
export const ERRORS_WARN = 3;
export const ERRORS_FAIL = 6;

/** The number of turns in a row, up to now, whose calls all failed. `warned`: the agent knows. */
export function failedTurns(messages: readonly Message[]): { turns: number; warned: boolean } {
  let turns = 0;
  let warned = false;
  let failed = 0;
  let isFailing = true;
  for (let i = messages.length - 1; i >= 0 && turns < ERRORS_FAIL && isFailing; i--) {
    const { role, kind, isError, toolCalls = [] } = messages[i]!;
    if (role === 'tool') [failed, isFailing] = [failed + 1, isError === true];
    else if (role === 'user') {
      isFailing = WARNINGS.has(kind);
      warned = warned || kind === 'error_warning';
    } else if (role === 'assistant') {
      isFailing = toolCalls.length > 0 && failed >= toolCalls.length;
      if (isFailing) turns++;
      failed = 0;
    }
  }
  return { turns, warned };
}

const WARNINGS: ReadonlySet<MessageKind | undefined> = new Set<MessageKind | undefined>([
  ...INFORMING,
  'loop_warning',
  'error_warning',
]);

interface Turn {
  names: string[];
  /** Its calls and their results. */
  print: string;
}

/**
 * The last turns that only called tools, newest first, back to the last message from somebody else.
 */
function lastTurns(messages: readonly Message[]): { turns: Turn[]; warned: boolean } {
  const turns: Turn[] = [];
  const results = new Map<string, string>();
  let warned = false;
  for (let i = messages.length - 1; i >= 0 && turns.length < IDLE_TURNS; i--) {
    const message = messages[i]!;
    if (message.role === 'tool') results.set(message.toolCallId ?? '', message.content);
    else if (message.role === 'user') {
      // A warning brings no new information that would explain a repeated call.
      if (!WARNINGS.has(message.kind)) break;
      warned = warned || message.kind === 'loop_warning';
    } else if (message.role === 'assistant') {
      const calls = message.toolCalls ?? [];
      if (calls.length === 0) break;
      const print = JSON.stringify(calls.map((call) => [call.name, call.arguments, results.get(call.id)]));
      turns.push({ names: calls.map((call) => call.name), print });
    }
  }
  return { turns, warned };
}

function names(turns: readonly Turn[]): string {
  return [...new Set(turns.flatMap((turn) => turn.names))].join(', ');
}
