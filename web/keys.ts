/** Keyboard: keys of the page that is open, and `g` followed by a letter to go somewhere. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { go } from './router.ts';

/** The key that saves or sends, as this keyboard names it. */
export const SEND_KEY = `${commandKey()} ↵`;

/** The modifier key for commands of a page. */
export function commandKey(): string {
  return /mac|iphone|ipad/i.test(navigator.platform) ? '⌘' : 'Ctrl';
}

type Keys = Record<string, (event: KeyboardEvent) => void>;

interface Layer {
  keys: Keys;
  level: number;
}

const layers: Layer[] = [];

/** The frame is level 0, a page 1, an overlay 2. The highest level that has the key acts. */
export function useKeys(keys: Keys, level = 1): void {
  const layer = useRef<Layer>({ keys, level });
  layer.current.keys = keys;
  useLayoutEffect(() => {
    const mine = layer.current;
    layers.push(mine);
    return () => void layers.splice(layers.indexOf(mine), 1);
  }, []);
}

function actOf(key: string): Keys[string] | undefined {
  const having = layers.filter(({ keys }) => keys[key] !== undefined);
  const top = Math.max(...having.map(({ level }) => level));
  return having.findLast(({ level }) => level === top)?.keys[key];
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

const GOING_MS = 1500;

/** After `g`, a letter opens a page until this time. */
let goingUntil = -Infinity;

export function listenToKeys(): void {
  addEventListener('keydown', stopHeld, true);
  addEventListener('keydown', (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key === 'k') {
      event.preventDefault();
      actOf('palette')?.(event);
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
    if (event.timeStamp < goingUntil) {
      goingUntil = -Infinity;
      const to = GO[event.key];
      if (to !== undefined) go(to);
      return;
    }
    if (event.key === 'g') {
      goingUntil = event.timeStamp + GOING_MS;
      return;
    }
    const act = actOf(event.key);
    if (act === undefined) return;
    event.preventDefault();
    act(event);
  });
}

const MOVES = new Set(['j', 'k', '+', '-', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']);

/** A key held down acts once: only moving and writing repeat. */
function stopHeld(event: KeyboardEvent): void {
  if (!event.repeat) return;
  const { key, target } = event;
  const isWriting = isTyping(target) && !event.metaKey && !event.ctrlKey;
  const isEnter = key === 'Enter' && !(isWriting && !(target instanceof HTMLInputElement));
  if (isEnter) event.preventDefault();
  if (isEnter || !(isTyping(target) || MOVES.has(key))) event.stopPropagation();
}

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName);
}
