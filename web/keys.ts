/** Keyboard: keys of the page that is open, and `g` followed by a letter to go somewhere. */
import { useEffect } from 'preact/hooks';
import { go } from './router.ts';

export type Keys = Record<string, (event: KeyboardEvent) => void>;

/** Keys of the page on top; the newest page's keys win. */
const stack: Keys[] = [];

export function useKeys(keys: Keys): void {
  useEffect(() => {
    stack.push(keys);
    return () => void stack.splice(stack.indexOf(keys), 1);
  });
}

const GO: Record<string, string> = {
  h: '#/hall',
  i: '#/inbox',
  t: '#/tasks',
  w: '#/waits',
  c: '#/conversations',
  a: '#/agents',
  k: '#/costs',
};

let isGoing = false;

export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
    if (isGoing) {
      isGoing = false;
      const to = GO[event.key];
      if (to !== undefined) go(to);
      return;
    }
    if (event.key === 'g') {
      isGoing = true;
      setTimeout(() => (isGoing = false), 1500);
      return;
    }
    const act = stack.map((keys) => keys[event.key]).findLast((each) => each !== undefined);
    if (act === undefined) return;
    event.preventDefault();
    act(event);
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(input|textarea|select)$/i.test(target.tagName);
}
