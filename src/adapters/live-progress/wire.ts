/**
 * One line on a socket: `{"turn": …}` replaces what is known of a turn, `{"progress": …}` adds to
 * it, `{"end": "<task>"}` ends it. A reader ignores lines of any other form.
 */
import { isMapping, parseMapping } from '../../domain/mapping.js';
import { MAX_LIVE_WORDS, type LiveTurn } from '../../domain/live-turn.js';
import type { Progress } from '../../domain/progress.js';

export type WireLine = { turn: LiveTurn } | { progress: Progress } | { end: string };

/** A line of an honest process is shorter: words, escaped, and little else. */
export const MAX_LINE_CHARS = 8 * MAX_LIVE_WORDS;
const MAX_NAME_CHARS = 500;
const MAX_TEXT_CHARS = 2000;

export function lineOf(line: WireLine): string {
  return `${JSON.stringify(line)}\n`;
}

export function readLine(text: string): WireLine | undefined {
  const line = parseMapping(text);
  if (line === undefined) return undefined;
  if ('end' in line) return isName(line['end']) ? { end: line['end'] } : undefined;
  if ('turn' in line) {
    const turn = readTurn(line['turn']);
    return turn && { turn };
  }
  const progress = readProgress(line['progress']);
  return progress && { progress };
}

function readTurn(given: unknown): LiveTurn | undefined {
  if (!isMapping(given)) return undefined;
  const { task, root, agent, since, words, isCut, tokens, microUsd, unpriced, tool, result } = given;
  if (!isName(task) || !isName(root) || !isName(agent) || typeof words !== 'string') return undefined;
  if (typeof since !== 'string' || Number.isNaN(Date.parse(since))) return undefined;
  const turn: LiveTurn = {
    task,
    root,
    agent,
    since: new Date(since).toISOString(),
    words: words.slice(-MAX_LIVE_WORDS),
    isCut: isCut === true,
    tokens: count(tokens),
    microUsd: count(microUsd),
    unpriced: count(unpriced),
  };
  if (isMapping(tool) && isName(tool['name'])) {
    turn.tool = { name: tool['name'], argument: short(tool['argument']) };
    if (typeof tool['line'] === 'string') turn.tool.line = short(tool['line']);
  }
  if (isMapping(result) && isName(result['name']))
    turn.result = {
      name: result['name'],
      argument: short(result['argument']),
      ok: result['ok'] === true,
      line: short(result['line']),
    };
  return turn;
}

function readProgress(given: unknown): Progress | undefined {
  if (!isMapping(given)) return undefined;
  const { task, root, agent, kind, text, tool, argument, line, ok } = given;
  if (!isName(task) || !isName(root) || !isName(agent)) return undefined;
  const now = { task, root, agent };
  if (kind === 'thinking') return { ...now, kind };
  if (kind === 'words')
    return typeof text === 'string' ? { ...now, kind, text: text.slice(-MAX_LIVE_WORDS) } : undefined;
  if (!isName(tool)) return undefined;
  if (kind === 'tool') return { ...now, kind, tool, argument: short(argument) };
  if (kind === 'report') return { ...now, kind, tool, line: short(line) };
  return kind === 'result' ? { ...now, kind, tool, ok: ok === true, line: short(line) } : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARS;
}

function short(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : '';
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}
