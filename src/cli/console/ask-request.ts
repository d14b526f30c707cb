/**
 * Shows one request on the terminal and asks for the answer. Keys that were typed before it was
 * drawn are dropped, a held key answers once, a risky or unconfined action needs Enter after y,
 * and no rule can be made while outside text has influence.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawn, type ChildProcess } from 'node:child_process';
import type { OpenRequest } from '../../app/approvals.js';
import { whyNoRule } from '../../app/trust/no-rule.js';
import { needsConfirmation } from '../../domain/consent/weight.js';
import { mainArgument, type Answer } from '../../domain/task/approval.js';
import { answerIn } from '../../domain/task/question.js';
import { localDateTime } from '../../views/local-time.js';
import type { Io } from '../process/io.js';
import { requestLines } from '../render/request.js';
import { fitted, oneLine, wrappedLines } from '../render/layout.js';
import type { Terminal } from '../render/terminal.js';
import type { Keyboard } from './keyboard.js';
import { askChoice, askText, leaves, type Left } from './prompt.js';

type Given = { answer: Omit<Answer, 'at'> } | 'skip' | Left;

export interface Asking {
  io: Io;
  terminal: Terminal;
  keyboard: Keyboard;
  /** Aborted when somebody else answers it. */
  signal?: AbortSignal;
  /** Keeps others from drawing while another program has the terminal. */
  lend?<T>(work: () => Promise<T>): Promise<T>;
  /** The person did not ask to see requests, so a long one does not open the pager by itself. */
  isUnbidden?: boolean;
}

/**
 * For this long after a request appears, no key answers it, because the key may be meant for the
 * request before or for the chat in which the person is typing.
 */
const SETTLE_MS = 500;

export async function askRequest(request: OpenRequest, asking: Asking, position: string): Promise<Given> {
  const { terminal, keyboard } = asking;
  terminal.dock([]);
  terminal.say('');
  showHead(request, asking, position);
  const isWhole = await showBody(request, asking, asking.isUnbidden === true);
  keyboard.drop();
  return request.request.question ? askQuestion(request, asking) : askAction(request, asking, isWhole);
}

function showHead(request: OpenRequest, { terminal }: Asking, position: string): void {
  const { risk } = request.shown;
  const word = risk === undefined ? '' : ` · ${terminal.colour(risk === 'HIGH' ? 'red' : 'yellow', `${risk} risk`)}`;
  const verb = request.request.question ? 'asks you' : 'needs your approval';
  const head = `${terminal.bold(terminal.colour('yellow', `? ${position} ${verb}`))}${word}`;
  terminal.say(head);
  if (request.purpose !== undefined)
    terminal.say(terminal.dim(`  Task: ${oneLine(request.purpose, terminal.width - 9)}`));
}

/**
 * Text that is taller than the screen is shown in the pager, or cut. Returns false if it was cut.
 */
async function showBody(request: OpenRequest, asking: Asking, isCut: boolean): Promise<boolean> {
  const { io, terminal } = asking;
  const lines = requestLines(request, terminal, false);
  const room = terminal.height - 4;
  const isLong = lines.length > room && io.stdout.isTTY === true;
  if (isLong && isCut) {
    for (const line of lines.slice(0, Math.max(3, room - 6))) terminal.out(line);
    terminal.say(terminal.dim(`  … ${lines.length - Math.max(3, room - 6)} more lines; ? shows all of it`));
    return false;
  }
  if (isLong && (await page(lines, asking)))
    terminal.say(terminal.dim(`(${lines.length} lines, shown in the pager; ? shows them again)`));
  else for (const line of lines) terminal.out(line);
  return true;
}

async function page(lines: readonly string[], asking: Asking): Promise<boolean> {
  const { env } = asking.io;
  const pager = env['PAGER'] || 'less';
  const text = lines.map((line) => asking.terminal.painted(line)).join('\n');
  const options = { env: { ...env, LESSSECURE: '1' }, shell: pager.includes(' ') };
  return ran(asking, () => {
    const child = spawn(pager, pager === 'less' ? ['-R', '-X', '-F'] : [], {
      ...options,
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${text}\n`);
    return child;
  });
}

/** Another program has the terminal until it ends. False if it failed. */
function ran({ keyboard, lend }: Asking, start: () => ChildProcess): Promise<boolean> {
  const run = (): Promise<boolean> =>
    keyboard.lend(
      () =>
        new Promise<boolean>((resolve) => {
          const child = start();
          child.once('error', () => resolve(false));
          child.once('close', (code) => resolve(code === 0));
        }),
    );
  return lend === undefined ? run() : lend(run);
}

async function askAction(request: OpenRequest, asking: Asking, isShown: boolean): Promise<Given> {
  const { terminal, keyboard, signal } = asking;
  const { risk, tool } = request.request;
  let isWhole = isShown;
  const doubt = (): string | undefined => {
    if (needsConfirmation(request.request)) return risk === 'HIGH' ? 'This is risky' : 'This is not confined';
    return isWhole ? undefined : 'You have not seen all of it';
  };
  const noRule = whyNoRule(request.request);
  const mayEdit = mainArgument(tool) !== undefined;
  const shownAt = Date.now();
  let wordUntil = 0;
  const keys = [
    'y allow',
    'n refuse',
    ...(mayEdit ? ['e edit'] : []),
    ...(noRule === undefined ? ['a always'] : []),
    's skip',
    '? details',
  ];
  for (;;) {
    const what = terminal.dim(fitted(`${request.request.agent}: ${request.shown.title}`, terminal.width - 1));
    const rows = [what, ...keyRows(keys, terminal.width - 1).map((row) => terminal.bold(row))];
    terminal.dock(rows, { row: 1, column: 0 });
    const key = await keyboard.next(signal);
    const left = leaves(key);
    if (left !== undefined) return left;
    if (key!.name !== 'text') continue;
    const typed = key!.text.toLowerCase();
    // A letter in the middle of typed words is not an answer.
    if (!/^[yneas?]$/.test(typed)) wordUntil = Date.now() + SETTLE_MS;
    if (Date.now() < wordUntil) continue;
    if (typed === 's') return 'skip';
    if (typed === '?') {
      isWhole = await showBody(request, asking, false);
      details(request, terminal);
    }
    if (Date.now() - shownAt < SETTLE_MS) continue;
    if (typed === 'y') {
      const why = doubt();
      if (why === undefined || (await confirmed(asking, `${why}: press Enter to allow it, or any other key`)))
        return { answer: { approved: true, by: 'human' } };
    }
    if (typed === 'n') {
      const reason = await askText(terminal, keyboard, { prompt: 'Why not? (Enter for no reason) ', ...asking });
      if (typeof reason === 'object') return { answer: { approved: false, by: 'human', ...reasonOf(reason.text) } };
    }
    if (typed === 'e' && mayEdit) {
      const answer = await edit(request, asking);
      if (answer !== undefined) return answer;
    }
    if (typed === 'a') {
      if (noRule !== undefined) terminal.say(terminal.dim(`no rule can be made here: ${noRule}`));
      else if (await ruleConfirmed(request, asking)) return { answer: { approved: true, by: 'human', always: true } };
    }
  }
}

/** A key and its word stay in the same row. */
function keyRows(keys: readonly string[], width: number): string[] {
  const rows: string[] = [];
  for (const key of keys) {
    const row = rows.length === 0 ? key : `${rows.at(-1)}  ${key}`;
    if (rows.length > 0 && row.length <= width) rows.pop();
    rows.push(rows.length === 0 || row.length <= width ? row : key);
  }
  return rows;
}

async function confirmed({ terminal, keyboard, signal }: Asking, question: string): Promise<boolean> {
  terminal.dock([terminal.colour('red', question)], { row: 0, column: 0 });
  const key = await keyboard.next(signal);
  return key?.name === 'enter';
}

async function ruleConfirmed(request: OpenRequest, asking: Asking): Promise<boolean> {
  const { terminal } = asking;
  terminal.say('This rule goes into storage/terminal-cmd-allowlist.yaml:');
  terminal.say(`  always allow exactly: ${request.shown.action.text}`);
  terminal.say(`From then on it runs without asking, and in a sandbox it can write only in the agent's own folders.`);
  return confirmed(asking, 'Press Enter to allow it now and always, or any other key');
}

function reasonOf(text: string): { reason?: string } {
  return text.trim() === '' ? {} : { reason: text.trim() };
}

function details({ id, request, created, seen }: OpenRequest, terminal: Terminal): void {
  const facts = [
    ['id', id],
    ['conversation', `sessions/${request.session}.session.yaml`],
    ['asked at', localDateTime(created)],
    ['digest', seen],
    ['file', 'tasks/approvals.task.md'],
  ];
  for (const [name, value] of facts)
    for (const line of wrappedLines(`  ${name}: ${value}`, terminal.width)) terminal.say(terminal.dim(line));
}

/** Opens the text in the person's editor. Undefined if nothing was changed. */
async function edit(request: OpenRequest, asking: Asking): Promise<Given | undefined> {
  const { io, terminal } = asking;
  const main = mainArgument(request.request.tool)!;
  const before = String(request.request.arguments[main] ?? '');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-edit-'));
  const file = path.join(folder, `${main}.txt`);
  try {
    fs.writeFileSync(file, before, { mode: 0o600 });
    const editor = io.env['VISUAL'] || io.env['EDITOR'] || 'vi';
    const isSaved = await ran(asking, () =>
      spawn(`${editor} "${file}"`, { stdio: 'inherit', shell: true, env: io.env }),
    );
    const after = fs.readFileSync(file, 'utf8').replace(/\n$/, before.endsWith('\n') ? '\n' : '');
    if (!isSaved || after === before || after.trim() === '') {
      terminal.say(terminal.dim('nothing was changed, so nothing was answered'));
      return undefined;
    }
    return { answer: { approved: true, by: 'human', edited: { [main]: after } } };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function askQuestion(request: OpenRequest, asking: Asking): Promise<Given> {
  const { terminal, signal } = asking;
  const keyboard = settled(asking.keyboard);
  const question = request.request.question!;
  const hint = terminal.dim('Escape skips it, Ctrl-C leaves');
  const scope = signal === undefined ? {} : { signal };
  if (question.choices !== undefined) {
    const first = question.choices.indexOf(question.default ?? '');
    const choices = request.shown.question?.choices ?? question.choices;
    const chosen = await askChoice(terminal, keyboard, { choices, first, above: [hint], ...scope });
    if (typeof chosen !== 'object') return chosen === 'back' ? 'skip' : chosen;
    return { answer: { approved: true, by: 'human', text: question.choices[chosen.choice]! } };
  }
  for (;;) {
    const typed = await askText(terminal, keyboard, {
      prompt: 'Your answer: ',
      given: question.default ?? '',
      above: [hint],
      ...scope,
    });
    if (typeof typed !== 'object') return typed === 'back' ? 'skip' : typed;
    const given = answerIn(question, typed.text);
    if ('text' in given) return { answer: { approved: true, by: 'human', text: given.text } };
    terminal.say(given.wrong);
  }
}

/** Drops what the person is typing when the question appears, until there is a pause. */
function settled(keyboard: Keyboard): Keyboard {
  let settledAt = Date.now() + SETTLE_MS;
  return {
    ...keyboard,
    async next(signal) {
      for (;;) {
        const key = await keyboard.next(signal);
        const isMove = key?.name === 'up' || key?.name === 'down' || key?.name === 'tab';
        if (isMove || leaves(key) !== undefined || Date.now() >= settledAt) return key;
        settledAt = Date.now() + SETTLE_MS;
      }
    },
  };
}
