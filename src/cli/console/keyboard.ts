/**
 * Reads single keys and pastes from a terminal. Keys wait in a queue until they are asked for, so a
 * prompt can drop keys that were typed before it was drawn.
 */
import { emitKeypressEvents, type Key as NodeKey } from 'node:readline';
import { isForeground } from '../process/foreground.js';
import type { Input, Output } from '../process/io.js';

export type Key =
  | { name: 'text'; text: string }
  | { name: 'paste'; text: string }
  | { name: 'enter' | 'newline' | 'backspace' | 'delete' | 'tab' | 'escape' | 'interrupt' | 'end' }
  | { name: 'up' | 'down' | 'left' | 'right' | 'home' | 'line-end' | 'page-up' | 'page-down' }
  | { name: 'word-left' | 'word-right' | 'kill-word' | 'kill-line' | 'kill-rest' | 'clear' };

export interface Keyboard {
  /** The next key. Undefined if the signal aborts first, or the terminal is gone. */
  next(signal?: AbortSignal): Promise<Key | undefined>;
  /** Forgets keys that were typed and not read. */
  drop(): void;
  /** Gives the terminal to another program, such as an editor, until `work` is done. */
  lend<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';

export function openKeyboard(stdin: Input, screen: Output): Keyboard {
  const queue: Key[] = [];
  let waiting: ((key: Key | undefined) => void) | undefined;
  let pasted: string | undefined;
  let isGone = false;
  const give = (key: Key): void => {
    if (waiting === undefined) return void queue.push(key);
    const waiter = waiting;
    waiting = undefined;
    waiter(key);
  };
  const heard = (text: string | undefined, key: NodeKey): void => {
    if (key.ctrl && key.name === 'z' && pasted === undefined) return suspend();
    if (key.name === 'paste-start') pasted = '';
    else if (key.name === 'paste-end') {
      give({ name: 'paste', text: (pasted ?? '').replace(/\r\n?/g, '\n') });
      pasted = undefined;
    } else if (pasted !== undefined) pasted += key.sequence ?? text ?? '';
    else {
      const known = keyOf(text, key);
      if (known !== undefined) give(known);
    }
  };
  const gone = (): void => {
    isGone = true;
    waiting?.(undefined);
  };
  const take = (): void => {
    stdin.setRawMode?.(true);
    stdin.on('keypress', heard);
    stdin.on('end', gone);
    stdin.resume();
    screen.write(PASTE_ON);
  };
  const release = (): void => {
    screen.write(PASTE_OFF);
    stdin.off('keypress', heard);
    stdin.off('end', gone);
    stdin.setRawMode?.(false);
    stdin.pause();
  };
  /** Ctrl-Z: the shell gets the terminal until it continues the program. */
  const suspend = (): void => {
    if (process.platform === 'win32' || stdin !== process.stdin) return;
    release();
    process.once('SIGCONT', () => isForeground() && take());
    process.kill(process.pid, 'SIGTSTP');
  };
  emitKeypressEvents(stdin);
  take();
  return {
    next(signal) {
      const first = queue.shift();
      if (first !== undefined || isGone || signal?.aborted) return Promise.resolve(first);
      return new Promise((resolve) => {
        const stop = (): void => end(undefined);
        const end = (key: Key | undefined): void => {
          signal?.removeEventListener('abort', stop);
          waiting = undefined;
          resolve(key);
        };
        waiting = end;
        signal?.addEventListener('abort', stop, { once: true });
      });
    },
    drop() {
      queue.length = 0;
    },
    async lend(work) {
      release();
      try {
        return await work();
      } finally {
        take();
        queue.length = 0;
      }
    },
    close: release,
  };
}

const CONTROL: Readonly<Record<string, Key>> = {
  c: { name: 'interrupt' },
  d: { name: 'end' },
  a: { name: 'home' },
  e: { name: 'line-end' },
  b: { name: 'left' },
  f: { name: 'right' },
  p: { name: 'up' },
  n: { name: 'down' },
  j: { name: 'newline' },
  w: { name: 'kill-word' },
  u: { name: 'kill-line' },
  k: { name: 'kill-rest' },
  l: { name: 'clear' },
  h: { name: 'backspace' },
};

const NAMED: Readonly<Record<string, Key>> = {
  return: { name: 'enter' },
  enter: { name: 'newline' },
  backspace: { name: 'backspace' },
  delete: { name: 'delete' },
  tab: { name: 'tab' },
  escape: { name: 'escape' },
  up: { name: 'up' },
  down: { name: 'down' },
  left: { name: 'left' },
  right: { name: 'right' },
  home: { name: 'home' },
  end: { name: 'line-end' },
  pageup: { name: 'page-up' },
  pagedown: { name: 'page-down' },
};

const META: Readonly<Record<string, Key>> = {
  return: { name: 'newline' },
  enter: { name: 'newline' },
  b: { name: 'word-left' },
  f: { name: 'word-right' },
  left: { name: 'word-left' },
  right: { name: 'word-right' },
  backspace: { name: 'kill-word' },
};

function keyOf(text: string | undefined, { name = '', ctrl, meta }: NodeKey): Key | undefined {
  if (meta && name !== 'escape') return META[name];
  if (ctrl && (name === 'left' || name === 'right')) return META[name];
  if (ctrl) return CONTROL[name];
  const named = NAMED[name];
  if (named !== undefined) return named;
  return text === undefined || text === '' || text < ' ' || text === '\u007f' ? undefined : { name: 'text', text };
}
