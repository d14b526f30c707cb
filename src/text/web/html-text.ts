/**
 * HTML as text that a model reads well: headings, lists, links, tables and code keep a mark;
 * scripts, styles and hidden parts are dropped. One pass over the tags, so no page is slow.
 */

const DROPPED = new Set('script style noscript template svg head iframe object'.split(' '));
const BLOCKS = new Set(
  'address article aside blockquote br dd div dl dt fieldset figure footer form header hr li main nav ol p pre section table tr ul'.split(
    ' ',
  ),
);

/** `base`: the address of the page, for relative links. */
export function htmlText(html: string, base?: string): string {
  const title = /<title[^>]{0,200}>([^<]{0,500})/i.exec(html.slice(0, 50_000))?.[1];
  const out: string[] = title === undefined ? [] : [`# ${decode(title).trim()}\n\n`];
  const links: string[] = [];
  let dropped = '';
  let isCode = false;
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const end = open < 0 ? html.length : open;
    if (dropped === '' && end > at) out.push(isCode ? decode(html.slice(at, end)) : flowing(html.slice(at, end)));
    if (open < 0) break;
    if (html.startsWith('<!--', open)) {
      const close = html.indexOf('-->', open);
      at = close < 0 ? html.length : close + 3;
      continue;
    }
    const close = html.indexOf('>', open);
    if (close < 0) break;
    at = close + 1;
    const [, slash, written] = /^<(\/?)([A-Za-z][\w-]*)/.exec(html.slice(open, Math.min(close, open + 60))) ?? [];
    if (written === undefined) continue;
    const name = written.toLowerCase();
    const isEnd = slash === '/';
    if (dropped !== '') {
      if (isEnd && name === dropped) dropped = '';
      continue;
    }
    if (DROPPED.has(name) && !isEnd) {
      dropped = html[close - 1] === '/' ? '' : name;
      continue;
    }
    if (name === 'pre') isCode = !isEnd;
    if (name === 'a') out.push(isEnd ? linkEnd(links.pop()) : linkStart(html.slice(open, close), base, links));
    else out.push(mark(name, isEnd));
  }
  return tidy(out.join(''));
}

function mark(name: string, isEnd: boolean): string {
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (level !== undefined) return isEnd ? '\n\n' : `\n\n${'#'.repeat(Number(level))} `;
  if (name === 'li') return isEnd ? '\n' : '\n- ';
  if (name === 'td' || name === 'th') return isEnd ? ' | ' : '';
  if (name === 'tr' || name === 'br') return '\n';
  if (name === 'pre') return isEnd ? '\n```\n\n' : '\n\n```\n';
  return BLOCKS.has(name) ? '\n\n' : '';
}

function linkStart(tag: string, base: string | undefined, links: string[]): string {
  const [, double, single, bare] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(tag) ?? [];
  const href = decode(double ?? single ?? bare ?? '').trim();
  const target = /^(?:#|javascript:|$)/i.test(href) ? '' : absolute(href, base);
  links.push(target);
  return target === '' ? '' : '[';
}

function linkEnd(target: string | undefined): string {
  return target ? `](${target})` : '';
}

function absolute(href: string, base: string | undefined): string {
  return URL.canParse(href, base) ? new URL(href, base).href : href;
}

function flowing(text: string): string {
  return decode(text.replace(/\s+/g, ' '));
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', hellip: '…' };

function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, word: string) => {
    if (word !== undefined) return NAMED[word.toLowerCase()] ?? whole;
    const code = decimal === undefined ? parseInt(hex as string, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd().replace(/^ (?=\S)/, ''))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
