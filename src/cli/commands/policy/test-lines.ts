/**
 * `guild policy test`: the verdict on command lines, without running anything. Lines are arguments
 * or come on standard input. `--json` reads and writes JSON lines; a bad line gets an error.
 */
import { openRoster } from '../../../app/readers/open-roster.js';
import { commandGate, loadPolicy, operandGate, type Gate } from '../../../app/readers/gates.js';
import { untrustedRules } from '../../../app/trust/trust.js';
import type { Agent } from '../../../domain/agent/agent.js';
import type { Env } from '../../../domain/config/env.js';
import { defined } from '../../../domain/defined.js';
import type { CommandVerdict } from '../../../domain/policy.js';
import { problemText } from '../../../domain/problem.js';

interface PolicyTest {
  /** Command lines; empty: they are read from standard input. */
  lines: readonly string[];
  json: boolean;
  stdin: AsyncIterable<Buffer | string>;
  stdout: { write(text: string): void };
  stderr: { write(text: string): void };
  /** The workspace; its policy files are read if they exist. */
  root: string;
  /** To look up whether the rules are trusted. */
  env: Env;
  sandbox: 'on' | 'off' | 'machine';
}

/** The verdicts themselves are the answer, not a failure. */
export async function policyTest({ lines, json, stdin, stdout, stderr, ...at }: PolicyTest): Promise<void> {
  const { policy, problems } = loadPolicy(at.root);
  for (const problem of problems) stderr.write(`${problemText(problem)}\n`);
  const waiting = untrustedRules(at.root, at.env);
  if (waiting.length > 0)
    stderr.write(`these verdicts follow ${waiting.join(' and ')}, which takes effect once you trust it: guild trust\n`);
  const gate = withAgents(commandGate(policy), at.root, operandGate(at.root, at.sandbox));
  if (lines.length > 0)
    for (const line of lines) stdout.write(json ? answerJson({ command: line }, gate) : answer(line, gate));
  else
    for await (const line of linesOf(stdin))
      stdout.write(json ? answerLine(line, gate) : line.trim() === '' ? '' : answer(line, gate));
}

interface NamedGate {
  judge(line: string, agent?: Agent): CommandVerdict;
  find(name: string | undefined): Agent | undefined;
}

/**
 * The `approve:` rules of an agent apply if a line names it. The agents are read at the first such
 * line.
 */
function withAgents(gate: Gate, root: string, operands: ReturnType<typeof operandGate>): NamedGate {
  let agents: ReturnType<typeof openRoster>['agents'] | undefined;
  return {
    judge: (line, agent) => gate.judge(line, defined({ agent, operand: operands?.(agent?.name ?? 'agent') })),
    find: (name) => (name === undefined ? undefined : (agents ??= openRoster(root).agents).get(name)),
  };
}

function answer(line: string, gate: NamedGate): string {
  const { verdict, reason } = gate.judge(line);
  return `${verdict}\t${oneLine(reason)}\n`;
}

function answerLine(line: string, gate: NamedGate): string {
  if (line.trim() === '') return '';
  let asked: unknown;
  try {
    asked = JSON.parse(line);
  } catch {
    return `${JSON.stringify({ error: 'this line is not JSON' })}\n`;
  }
  const { id, command, agent } = (asked ?? {}) as { id?: unknown; command?: unknown; agent?: unknown };
  if (typeof command !== 'string') return `${JSON.stringify({ id, error: '"command" must be a text' })}\n`;
  return answerJson({ id, command, agent: typeof agent === 'string' ? agent : undefined }, gate);
}

function answerJson(
  { id, command, agent }: { id?: unknown; command: string; agent?: string | undefined },
  gate: NamedGate,
): string {
  const who = gate.find(agent);
  const start = performance.now();
  const { verdict, reason }: CommandVerdict = gate.judge(command, who);
  const ms = Math.round((performance.now() - start) * 1000) / 1000;
  return `${JSON.stringify({ id, verdict, reason: oneLine(reason), ms })}\n`;
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/**
 * Lines end at a newline only: a carriage return is part of the command, and the gate asks about
 * it.
 */
async function* linesOf(input: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of input) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
