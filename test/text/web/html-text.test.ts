/** A page becomes text that a model can read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { htmlText } from '../../../src/text/web/html-text.js';
import { inLinearTime } from '../../kit/linear.js';

test('headings, lists, links, tables and code keep their marks; scripts are dropped', () => {
  const html = `<!doctype html><html><head><title>A &amp; B</title><style>p{}</style></head><body>
    <script>alert("<p>no</p>")</script><!-- <p>hidden</p> -->
    <h2>Install</h2><p>Run  it
    with <a href="/docs?a=1&amp;b=2">the docs</a> &#8212; <b>now</b>.</p>
    <ul><li>one</li><li>two</li></ul><table><tr><th>k</th><td>v</td></tr></table>
    <pre>a  b
  c</pre><a href="javascript:x()">plain</a></body></html>`;
  assert.equal(
    htmlText(html, 'https://example.org/start/'),
    [
      '# A & B\n\n## Install\n\nRun it with [the docs](https://example.org/docs?a=1&b=2) — now.\n',
      '- one\n\n- two\n',
      'k | v |\n',
      '```\na  b\n  c\n```\n\nplain',
    ].join('\n'),
  );
});

test('a torn or hostile page takes linear time', () => {
  assert.equal(htmlText('<p>text <b'), 'text');
  const size = 500_000;
  for (const part of ['<', '<a href=', '<!--', '&#', '<pre>', '<li '])
    inLinearTime(`a page of ${part}`, () => htmlText(part.repeat(size)));
  inLinearTime('a page with a torn title', () => htmlText(`<title${' '.repeat(size)}`));
});
