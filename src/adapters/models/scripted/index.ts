/**
 * A model that plays a script, for demos, tests and offline work. Its answer depends only on the
 * request (agent, turn, messages), so a conversation continues unchanged after its process was
 * killed. The exception is `times`, which counts in this process only.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { problemText } from '../../../domain/problem.js';
import type { Message } from '../../../domain/session/session.js';
import { globFits } from '../../../domain/wildcard.js';
import type { Clock } from '../../../ports/clock.js';
import { type Model, type ModelFailureClass, type ModelReply, type ModelRequest } from '../../../ports/model.js';
import { matchOf } from './match.js';
import { readScript, type Pattern, type ScriptLine } from '../../../text/config/script.js';

/** `source` is the text of a script. An invalid script fails every call with the reason. */
export function scripted(source: string | { text: string; file: string }, clock?: Pick<Clock, 'sleep'>): Model {
  const { text, file } = typeof source === 'string' ? { text: source, file: 'script' } : source;
  const script = readScript(text, file);
  const sleep = clock ? (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal) : sleepReal;
  const used = new Map<ScriptLine, number>();

  return {
    async call(request) {
      if (!script.ok) return failed('unscripted', script.problems.map(problemText).join('\n'));
      if (request.signal?.aborted) return failed('aborted', 'the call was aborted');
      try {
        const isPlayable = (line: ScriptLine): boolean =>
          (line.times === undefined || (used.get(line) ?? 0) < line.times) && mismatch(line, request) === undefined;
        const line = script.lines.find(isPlayable);
        if (line === undefined) return failed('unscripted', unscripted(request, script.lines, used, file));
        used.set(line, (used.get(line) ?? 0) + 1);
        return await play(line, request, file, sleep);
      } catch (thrown) {
        return failed('unscripted', `${file}: ${(thrown as Error).message}`);
      }
    },
  };
}

type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

async function play(line: ScriptLine, request: ModelRequest, file: string, sleep: Sleep): Promise<ModelReply> {
  const fill = filler(line, request);
  const text = fill(line.say) as string;
  if (line.waitMs > 0) await sleep(line.waitMs, request.signal);
  // Sends the text in pieces even if the script sets no pace, so that listeners see streamed text.
  for (const piece of text === '' || !request.onText ? [] : (text.match(/\s*\S+|\s+$/g) ?? [text])) {
    if (line.paceMs > 0) await sleep(line.paceMs, request.signal);
    if (request.signal?.aborted) break;
    request.onText?.(piece);
  }
  if (request.signal?.aborted) return failed('aborted', 'the call was aborted');
  if (line.fail !== undefined) {
    const message = line.message ?? `scripted failure (${file}:${line.line})`;
    return failed(line.fail, message, line.retryAfterMs);
  }
  const toolCalls = line.call.map((call, at) => ({
    // Unique within a conversation and the same on every replay of this turn.
    id: `c${request.turn}-${at + 1}`,
    name: call.name,
    arguments: fill(call.arguments) as Record<string, unknown>,
  }));
  return {
    ok: true,
    answer: {
      text,
      toolCalls,
      finish: line.finish ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
      inputTokens:
        line.usage?.input ??
        tokens(request.messages.reduce((sum, message) => sum + message.content.length, request.system.length)),
      outputTokens:
        line.usage?.output ?? tokens(text.length + (toolCalls.length > 0 ? JSON.stringify(toolCalls).length : 0)),
      cachedTokens: line.usage?.cached ?? 0,
      microUsd: 0,
    },
  };
}

/** The first reason why a line does not fit, and how many checks passed; undefined if it fits. */
function mismatch(line: ScriptLine, request: ModelRequest): { fits: number; because: string } | undefined {
  const { when } = line;
  const checks: [boolean, () => string][] = [
    [
      !line.agent || line.agent.some((glob) => globFits(glob, request.agent)),
      () => `it is for agent ${line.agent!.join(', ')}`,
    ],
    [
      !line.task || line.task.some((glob) => globFits(glob, request.task)),
      () => `it is for task ${line.task!.join(', ')}`,
    ],
    [
      !line.turn || line.turn.some(({ from, to }) => from <= request.turn && request.turn <= to),
      () => `it is for turn ${turnText(line)}`,
    ],
    [
      !when?.last || matchesAny(when.last, sinceLastAnswer(request.messages)),
      () => `the last messages do not contain ${when!.last!.join(' or ')}`,
    ],
    [
      !when?.any || matchesAny(when.any, request.messages),
      () => `the conversation does not contain ${when!.any!.join(' or ')}`,
    ],
    [
      !when?.system || when.system.some((pattern) => contains(pattern, request.system)),
      () => `the system prompt does not contain ${when!.system!.join(' or ')}`,
    ],
    [
      !when?.tool || toolFits(when.tool, request.messages),
      () => `no such result of ${when!.tool!.map((tool) => tool.name).join(' or ')}`,
    ],
  ];
  const failedCheck = checks.findIndex(([fits]) => !fits);
  return failedCheck === -1 ? undefined : { fits: failedCheck, because: checks[failedCheck]![1]() };
}

function sinceLastAnswer(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1);
}

function matchesAny(patterns: Pattern[], messages: readonly Message[]): boolean {
  return messages.some((message) => patterns.some((pattern) => contains(pattern, message.content)));
}

function contains(pattern: Pattern, text: string): boolean {
  return typeof pattern === 'string' ? text.includes(pattern) : matchOf(pattern, text) !== null;
}

function toolFits(wanted: { name: string; says?: Pattern[] }[], messages: readonly Message[]): boolean {
  const names = new Map(
    messages.flatMap((message) => (message.toolCalls ?? []).map((call) => [call.id, call.name] as const)),
  );
  return sinceLastAnswer(messages).some((message) => {
    if (message.role !== 'tool') return false;
    const name = message.name ?? names.get(message.toolCallId ?? '');
    return wanted.some((tool) => tool.name === name && (!tool.says || matchesAny(tool.says, [message])));
  });
}

/**
 * Fills `{{last}} {{task}} {{turn}} {{agent}}` and the regex groups `{{1}}`…; keeps other braces.
 */
function filler(line: ScriptLine, request: ModelRequest): (value: unknown) => unknown {
  const names: Record<string, string> = {
    last: request.messages.at(-1)?.content ?? '',
    task: request.task,
    turn: String(request.turn),
    agent: request.agent,
    ...regexGroups(line, request),
  };
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replace(/\{\{\s*(\w+)\s*\}\}/g, (all, name: string) => names[name] ?? all);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)]));
  };
  return fill;
}

function regexGroups(line: ScriptLine, request: ModelRequest): Record<string, string> {
  const groups: Record<string, string> = {};
  const look = (patterns: Pattern[] | undefined, messages: readonly Message[]) => {
    for (const pattern of patterns ?? []) {
      if (typeof pattern === 'string') continue;
      const hit = messages.map((message) => matchOf(pattern, message.content)).find((match) => match !== null);
      hit?.slice(1).forEach((text, at) => (groups[String(at + 1)] ??= text ?? ''));
    }
  };
  look(line.when?.last, sinceLastAnswer(request.messages));
  for (const tool of line.when?.tool ?? []) look(tool.says, sinceLastAnswer(request.messages));
  look(line.when?.any, request.messages);
  return groups;
}

function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}

function unscripted(request: ModelRequest, lines: ScriptLine[], used: Map<ScriptLine, number>, file: string): string {
  const last = request.messages.at(-1)?.content.replace(/\s+/g, ' ').slice(0, 120) ?? '';
  const nearest = lines
    .map((line) => ({
      line,
      why: mismatch(line, request) ?? {
        fits: 9,
        because: `it is used up in this process (times: ${used.get(line)})`,
      },
    }))
    .sort((a, b) => b.why.fits - a.why.fits)
    .slice(0, 3)
    .map(({ line, why }) => `\n  ${file}:${line.line} does not fit: ${why.because}`);
  const summary = `${file} has no line for agent ${request.agent}, turn ${request.turn}, task ${request.task}, last message "${last}"`;
  return summary + (lines.length === 0 ? '; the script is empty' : nearest.join(''));
}

function turnText(line: ScriptLine): string {
  return line
    .turn!.map(({ from, to }) => (from === to ? from : `${from} to ${to === Infinity ? 'the end' : to}`))
    .join(', ');
}

function failed(kind: ModelFailureClass, message: string, retryAfterMs?: number): ModelReply {
  return { ok: false, failure: { class: kind, message, retryAfterMs } };
}

async function sleepReal(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
}
