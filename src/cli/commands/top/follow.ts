/** `guild top` on a terminal: draws again when something changes, and acts on keys. */
import { randomBytes } from 'node:crypto';
import { openDesk } from '../../../app/approvals.js';
import type { openStates, Snapshot } from '../../../app/readers/open-states.js';
import { INTERVALS } from '../../../domain/intervals.js';
import { asProblem, problemText } from '../../../domain/problem.js';
import { HUMAN } from '../../../domain/task/task.js';
import { summary } from '../../../views/summary.js';
import type { Call } from '../../args/command.js';
import { openKeyboard, type Key, type Keyboard } from '../../console/keyboard.js';
import { draftOf, draftRows, edited, type Draft } from '../../console/line-editor.js';
import { walk } from '../../console/walk.js';
import { hasPerson } from '../../process/ask.js';
import { onInterrupt } from '../../process/interrupt.js';
import { fitted, oneLine } from '../../render/layout.js';
import { selectable } from './frame.js';
import { whyLines } from './why.js';

type View = ReturnType<typeof openStates>;
type Draw = (seen: Snapshot, height: number, selected?: string) => string[];

/** A text to scroll in, or a line that the person types. */
type Mode =
  | { kind: 'list' }
  | { kind: 'page'; title: string; lines: string[]; from: number }
  | { kind: 'prompt'; prompt: string; draft: Draft; act(text: string): Promise<string> };

export async function follow(call: Call, view: View, draw: Draw): Promise<void> {
  const { terminal, io } = call;
  const { store } = view;
  const leave = new AbortController();
  const keyboard = hasPerson(io) ? openKeyboard(io.stdin, io.stderr) : undefined;
  let mode: Mode = { kind: 'list' };
  let seen: Snapshot = await view.look();
  let selected: string | undefined;
  let note = '';
  let shown = '';
  let isAway = false;
  let isStale = false;
  let wake = (): void => undefined;
  const ring = (): void => {
    isStale = true;
    wake();
  };
  const redraw = (): void => {
    shown = '';
    wake();
  };
  const offInterrupt = onInterrupt(io, () => leave.abort());
  const offNotes = view.follow(ring);
  const offBell = await store.presence.onRing(ring);
  io.stdout.on('resize', redraw);
  leave.signal.addEventListener('abort', () => wake());
  const typing = keyboard === undefined ? undefined : listen(keyboard);
  try {
    while (!leave.signal.aborted) {
      if (!isAway) show();
      await woken(INTERVALS.topCheckMs);
      if (!isStale || leave.signal.aborted) continue;
      // Changes that come close together share one redraw.
      await new Promise((resolve) => setTimeout(resolve, INTERVALS.frameMs));
      isStale = false;
      if (!isAway) seen = await view.look();
    }
  } finally {
    terminal.screen(undefined);
    io.stdout.off('resize', redraw);
    keyboard?.close();
    offInterrupt();
    offNotes();
    await typing;
    await offBell();
    await store.close();
  }

  function show(): void {
    const ids = selectable(seen);
    if (selected === undefined || !ids.includes(selected)) selected = ids[0];
    const room = Math.max(3, terminal.height - 2);
    const lines = body(room);
    const text = lines.join('\n');
    if (text !== shown) terminal.screen(lines);
    shown = text;
  }

  function body(room: number): string[] {
    if (mode.kind === 'page') {
      const { title, lines, from } = mode;
      const part = lines.slice(from, from + room - 2);
      const more = `${Math.min(lines.length, from + part.length)} of ${lines.length} lines`;
      return [terminal.bold(fitted(title, terminal.width)), '', ...part, footer(`arrows scroll · q back · ${more}`)];
    }
    const below =
      mode.kind === 'prompt'
        ? draftRows(mode.draft, mode.prompt, terminal.width, 3).rows
        : [note === '' ? footer(KEYS) : fitted(note, terminal.width)];
    return [...draw(seen, room - below.length + 1, selected), ...below];
  }

  function footer(text: string): string {
    return terminal.dim(fitted(text, terminal.width));
  }

  async function listen(keys: Keyboard): Promise<void> {
    while (!leave.signal.aborted) {
      const key = await keys.next(leave.signal);
      if (key === undefined) return leave.abort();
      note = '';
      try {
        await onKey(key, keys);
      } catch (error) {
        note = problemText(asProblem(error)).split('\n')[0]!;
      }
      redraw();
    }
  }

  async function onKey(key: Key, keys: Keyboard): Promise<void> {
    if (key.name === 'interrupt') return leave.abort();
    if (mode.kind === 'prompt') return prompted(key, mode);
    if (mode.kind === 'page') return paged(key, mode);
    const typed = key.name === 'text' ? key.text : key.name;
    if (typed === 'q' || typed === 'end') return leave.abort();
    if (typed === 'down' || typed === 'j') return move(1);
    if (typed === 'up' || typed === 'k') return move(-1);
    if (typed === 'page-down') return move(10);
    if (typed === 'page-up') return move(-10);
    const task = seen.open.find((placed) => placed.task.id === selected)?.task;
    if (task === undefined) return;
    if (task.to === HUMAN && /^(enter|[ynea?])$/.test(typed)) return answer(task.id, keys);
    if (typed === 'w' || typed === 'enter') {
      const lines = await whyLines(call, task.id);
      mode = { kind: 'page', title: oneLine(summary(task), terminal.width), lines, from: 0 };
    }
    if (task.to === HUMAN) return;
    const name = oneLine(summary(task), 40);
    if (typed === 't')
      mode = prompt(`tell ${task.to ?? 'the agent'}: `, async (text) => {
        if (text === '') return '';
        await submit({ kind: 'tell', task: task.id, text });
        return `told: ${text}${later()}`;
      });
    if (typed === 'x')
      mode = prompt(`cancel “${name}”? Type yes: `, async (text) => {
        if (!/^y(es)?$/i.test(text)) return 'not cancelled';
        await submit({ kind: 'cancel', task: task.id });
        return `cancelled “${name}”${later()}`;
      });
  }

  /** Intents wait until a process runs. */
  function later(): string {
    return seen.peers.length > 0 ? '' : '; it takes effect with the next guild watch or guild pump';
  }

  function prompt(text: string, act: (text: string) => Promise<string>): Mode {
    return { kind: 'prompt', prompt: text, draft: draftOf(''), act };
  }

  function move(by: number): void {
    const ids = selectable(seen);
    const at = ids.indexOf(selected ?? '') + by;
    selected = ids[Math.max(0, Math.min(ids.length - 1, at))];
  }

  async function prompted(key: Key, { draft, act, ...rest }: Mode & { kind: 'prompt' }): Promise<void> {
    if (key.name === 'escape' || key.name === 'end') mode = { kind: 'list' };
    else if (key.name === 'enter') {
      mode = { kind: 'list' };
      note = await act(draft.text.trim());
    } else mode = { ...rest, act, draft: edited(draft, key) ?? draft };
  }

  function paged(key: Key, page: Mode & { kind: 'page' }): void {
    const typed = key.name === 'text' ? key.text : key.name;
    const step = { down: 1, j: 1, up: -1, k: -1, 'page-down': 10, ' ': 10, 'page-up': -10 }[typed];
    if (step === undefined) mode = { kind: 'list' };
    else mode = { ...page, from: Math.max(0, Math.min(page.lines.length - 1, page.from + step)) };
  }

  /** The request is drawn on the normal screen, with the guards of the inbox. */
  async function answer(id: string, keys: Keyboard): Promise<void> {
    isAway = true;
    terminal.screen(undefined);
    const desk = await openDesk(call.root, io.env);
    try {
      const { answered } = await walk(desk, { io, terminal, keyboard: keys }, (request) => request.id === id);
      if (answered.length > 0)
        note = (await desk.isWorking())
          ? 'answered; the running guild carries on with it'
          : 'answered; guild watch or guild pump carries on with it';
    } finally {
      await desk.close();
      isAway = false;
      seen = await view.look();
    }
  }

  async function submit(
    intent: { kind: 'tell'; task: string; text: string } | { kind: 'cancel'; task: string },
  ): Promise<void> {
    const base = { id: randomBytes(6).toString('hex'), by: 'human', at: new Date().toISOString() };
    await store.intents.submit({ ...base, ...intent });
  }

  function woken(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        isStale = true;
        resolve();
      }, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const KEYS = 'arrows select · Enter opens · w why · t tell · x cancel · q quits';
