/**
 * Draws docs/pictures/{demo,swarm,first-minutes,day}.svg from the terminals of real runs. Ids, times and
 * folders are replaced by fixed ones, so that a picture changes only when the output does.
 * Run after `npm run build`: node scripts/picture.mjs [name …]. Needs `script` from util-linux.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { aDay, demo, firstTenMinutes, swarm } from './picture-stories.mjs';

const COLUMNS = 100;
const [CHAR, ROW, SIZE, EDGE, TOP] = [7.8, 17, 13, 20, 46];
const COLOURS = { 31: '#ff7b72', 32: '#7ee787', 33: '#f2cc60', 35: '#d2a8ff', 36: '#79c0ff' };
const [PLAIN, DIM, BRIGHT] = ['#c9d1d9', '#7d8590', '#ffffff'];

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const guild = `${process.execPath} ${path.join(root, 'bin', 'guild.mjs')}`;

const PICTURES = {
  demo: ['guild demo in a terminal: a message becomes tasks, a command waits for approval, a reply goes out', demo],
  swarm: ['A task that no agent can do leads to a new agent, which is tried, approved and put to work', swarm],
  'first-minutes': [
    'The first ten minutes: a workspace, an agent, a task, an approval and a conversation',
    firstTenMinutes,
  ],
  day: ['A day: three tasks, three questions and five requests, all answered in guild inbox', aDay],
};
const wanted = process.argv.slice(2);
for (const [name, [title, play]] of Object.entries(PICTURES))
  if (wanted.length === 0 || wanted.includes(name)) draw(name, title, await recorded(play));

async function recorded(play) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-picture-'));
  const lines = await play({ folder, guild, root, columns: COLUMNS });
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  fs.rmSync(`${folder}-state`, { recursive: true, force: true });
  const fixed = withFixedIds(lines.join('\n').replaceAll(folder, '/home/you'));
  return fixed.split('\n').filter((line, at, all) => line !== '' || (at > 0 && all[at - 1] !== ''));
}

function withFixedIds(text) {
  const replacements = new Map();
  const fixed = (id, length) => {
    if (!replacements.has(id)) replacements.set(id, createHash('sha256').update(`${replacements.size}`).digest('hex'));
    return replacements.get(id).slice(0, length);
  };
  return text
    .replaceAll(/call-([a-z0-9]{9,10})\b/g, (_, id) => `call-${fixed(id, id.length)}`)
    .replaceAll(/task_([a-z0-9]{8})(?![a-z0-9])/g, (_, id) => `task_${fixed(id, 8)}`)
    .replaceAll(/(?<=sha256 )[0-9a-f]{12}\b/g, (id) => fixed(id, 12))
    .replaceAll(/\b\d+ s\b/g, '1 s')
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, (id) =>
      fixed(id, 32).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    )
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-01-31T09:00:00.000Z');
}

function draw(name, title, lines) {
  fs.writeFileSync(path.join(root, 'docs', 'pictures', `${name}.svg`), svg(title, rowsOf(lines)));
}

/** Terminal rows; each is a list of pieces with one style. Long lines wrap, as in a terminal. */
function rowsOf(lines) {
  const rows = [];
  let style = { colour: undefined, bold: false, dim: false };
  for (const line of lines) {
    let row = [];
    let column = 0;
    for (const part of line.split(/(\u001b\[\d+m)/)) {
      const code = /^\u001b\[(\d+)m$/.exec(part)?.[1];
      if (code !== undefined) {
        style = changeStyle(style, Number(code));
        continue;
      }
      const rest = [...part];
      while (rest.length > 0) {
        if (column === COLUMNS) {
          rows.push(row);
          [row, column] = [[], 0];
        }
        const piece = rest.splice(0, COLUMNS - column);
        row.push({ column, text: piece.join(''), style });
        column += piece.length;
      }
    }
    rows.push(row);
  }
  return rows;
}

function changeStyle(style, code) {
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  return { ...style, colour: code === 39 ? undefined : COLOURS[code] };
}

function svg(title, rows) {
  const width = Math.round(COLUMNS * CHAR + 2 * EDGE);
  const height = TOP + rows.length * ROW + EDGE;
  const texts = rows.flatMap((row, at) => row.map((piece) => textElement(piece, TOP + (at + 0.8) * ROW)));
  const dots = ['#ff5f56', '#ffbd2e', '#27c93f'].map((fill, at) => dot(EDGE + 6 + at * 20, fill));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t">
<title id="t">${escaped(title)}</title>
<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
${dots.join('')}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${SIZE}">
${texts.filter(Boolean).join('\n')}
</g>
</svg>
`;
}

function dot(x, fill) {
  return `<circle cx="${x}" cy="20" r="6" fill="${fill}"/>`;
}

/** textLength aligns the text with terminal columns in any font. */
function textElement({ column, text, style }, y) {
  const lead = text.length - text.trimStart().length;
  const body = text.trim();
  if (body === '') return '';
  const x = (EDGE + (column + lead) * CHAR).toFixed(1);
  const length = ([...body].length * CHAR).toFixed(1);
  const fill = style.dim ? DIM : (style.colour ?? (style.bold ? BRIGHT : PLAIN));
  const weight = style.bold ? ' font-weight="600"' : '';
  return `<text x="${x}" y="${y.toFixed(1)}" textLength="${length}" lengthAdjust="spacingAndGlyphs" fill="${fill}"${weight}>${escaped(body)}</text>`;
}

/** Several blanks in a row would become one. */
function escaped(text) {
  return text
    .replaceAll(/ {2,}/g, (blanks) => '\u00a0'.repeat(blanks.length))
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
