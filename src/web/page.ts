/**
 * The HTML of the window. It has no data of the workspace unless the browser has logged in; then
 * the first answer is inside, so that the first paint needs one request.
 */
import type { Hello } from './base/contract.js';
import type { Assets } from './assets.js';

export function page(assets: Assets, title: string, hello: Hello | undefined, nonce: string): string {
  const styles = assets.styles.map((name) => `<link rel="stylesheet" href="/assets/${name}">`).join('');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escaped(title)}</title><link rel="icon" href="/assets/${assets.icon}">${styles}
<script type="module" src="/assets/${assets.script}"></script></head>
<body><div id="app"><p class="plain">The window needs a browser with JavaScript modules. Everything it shows is also in the files
of the workspace and on the command line: <code>guild top</code>, <code>guild inbox</code>, <code>guild task list</code>.</p></div>
<script type="application/json" id="hello" data-worker="/assets/${assets.worker}" nonce="${nonce}">${hello === undefined ? 'null' : dataText(hello)}</script></body></html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** JSON that cannot end the element around it. */
function dataText(value: unknown): string {
  return JSON.stringify(value).replace(/</g, '\\u003c');
}
