/** Starts the page: exchanges the token of the address for a cookie, then shows the workspace. */
import { render } from 'preact';
import type { Hello } from '../src/web/base/contract.ts';
import { enter, startFrom } from './api.ts';
import { listenToKeys } from './keys.ts';
import { Shell } from './shell.tsx';
import { follow } from './stream.ts';

const app = document.getElementById('app')!;

async function start(): Promise<void> {
  const token = /^#t=([\w.-]+)$/.exec(location.hash)?.[1];
  if (token !== undefined) {
    // Taken out of the address at once: it must not be in the history or a bookmark.
    history.replaceState(null, '', '/');
    if (await enter(token)) {
      location.reload();
      return;
    }
  }
  const first = JSON.parse(document.getElementById('hello')!.textContent ?? 'null') as Hello | null;
  if (first === null) {
    const text =
      'This address has already been used, or is too old. In the terminal of guild ui, press Enter for a new one, or run guild ui --link.';
    app.replaceChildren(Object.assign(document.createElement('p'), { className: 'plain', textContent: text }));
    return;
  }
  startFrom(first);
  app.replaceChildren();
  render(<Shell />, app);
  listenToKeys();
  follow();
}

void start();
