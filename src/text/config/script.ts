/**
 * The script of the scripted model. Unknown keys are errors: a misspelt one must not silently make
 * a line match more calls.
 */
import type { Problem } from '../../domain/problem.js';
import type { ModelFailureClass } from '../../domain/session/model-failure.js';
import { count, durationMs } from '../../schemas/amounts.js';
import { patternOf, scriptYaml, type ScriptLineFile } from '../../schemas/script.js';
import { readYaml } from '../schema/read-yaml.js';
import { defined } from '../../domain/defined.js';
import { textOf } from '../schema/values.js';

export type Pattern = string | RegExp;

interface ScriptWhen {
  last?: Pattern[];
  any?: Pattern[];
  system?: Pattern[];
  tool?: { name: string; says?: Pattern[] }[];
}

interface ScriptCall {
  name: string;
  arguments: Record<string, unknown>;
}

export interface ScriptLine {
  /** The number of its first line in the file, from 1. */
  line: number;
  agent?: string[];
  task?: string[];
  turn?: { from: number; to: number }[];
  when?: ScriptWhen;
  times?: number;
  say: string;
  call: ScriptCall[];
  usage?: { input?: number; output?: number; cached?: number };
  waitMs: number;
  paceMs: number;
  fail?: ModelFailureClass;
  message?: string;
  retryAfterMs?: number;
  finish?: 'length' | 'filtered';
}

type ScriptRead = { ok: true; lines: ScriptLine[] } | { ok: false; problems: Problem[] };

export function readScript(text: string, file: string): ScriptRead {
  const { value = [], problems, where } = readYaml(scriptYaml, file, text, []);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, lines: value.map((line, i) => toLine(line, where([i]).line ?? 0)) };
}

function toLine(file: ScriptLineFile, line: number): ScriptLine {
  return {
    line,
    say: textOf(file.say) ?? '',
    call: listOf(file.call).flatMap(toCalls),
    waitMs: durationMs(file.wait) ?? 0,
    paceMs: durationMs(file.pace) ?? 0,
    ...defined<Partial<ScriptLine>>({
      agent: file.agent === undefined ? undefined : listOf(file.agent).map(String),
      task: file.task === undefined ? undefined : listOf(file.task).map(String),
      turn: file.turn === undefined ? undefined : listOf(file.turn).map(toTurns),
      when: file.when === undefined ? undefined : toWhen(file.when),
      times: count(file.times),
      usage:
        file.usage &&
        defined({ input: count(file.usage.input), output: count(file.usage.output), cached: count(file.usage.cached) }),
      fail: file.fail,
      message: textOf(file.message),
      retryAfterMs: durationMs(file.retry_after),
      finish: file.finish,
    }),
  };
}

type One<T> = T extends readonly (infer U)[] ? U : T;

function listOf<T>(value: T): One<NonNullable<T>>[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]) as One<NonNullable<T>>[];
}

function toTurns(turn: number | { from?: number; to?: number }): { from: number; to: number } {
  return typeof turn === 'number' ? { from: turn, to: turn } : { from: turn.from ?? 1, to: turn.to ?? Infinity };
}

function toWhen(when: NonNullable<ScriptLineFile['when']>): ScriptWhen {
  if (typeof when !== 'object' || Array.isArray(when)) return { last: toPatterns(when) };
  const { last, any, system, tool } = when;
  return defined<ScriptWhen>({
    last: last === undefined ? undefined : toPatterns(last),
    any: any === undefined ? undefined : toPatterns(any),
    system: system === undefined ? undefined : toPatterns(system),
    tool: tool === undefined ? undefined : toTools(tool),
  });
}

function toTools(
  tool: NonNullable<Exclude<ScriptLineFile['when'], string | number | boolean | unknown[]>>['tool'],
): ScriptWhen['tool'] {
  if (typeof tool !== 'object' || Array.isArray(tool)) return listOf(tool).map((name) => ({ name: String(name) }));
  return Object.entries(tool).map(([name, says]) =>
    defined({ name, says: says === null ? undefined : toPatterns(says) }),
  );
}

/** The schema has accepted the expressions. */
function toPatterns(value: string | number | boolean | readonly (string | number | boolean)[]): Pattern[] {
  return listOf(value).map((each) => patternOf(String(each))!);
}

function toCalls(call: string | Record<string, Record<string, unknown> | null>): ScriptCall[] {
  if (typeof call === 'string') return [{ name: call, arguments: {} }];
  return Object.entries(call).map(([name, args]) => ({ name, arguments: args ?? {} }));
}
