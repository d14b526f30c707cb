/** A line diff as the server made it, side by side where there is room and unified elsewhere. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { Icon } from '../icons.tsx';
import { visible } from '../text.ts';

interface Line {
  sign: '+' | '-' | ' ' | '@';
  text: string;
  /** The number of the line before and after the change. */
  old?: number;
  new?: number;
  /** The part that differs from the line it replaces or is replaced by. */
  mark?: [number, number];
}

type Pair = [Line | undefined, Line | undefined];

/** The person's last choice, for all diffs. */
const isInline = signal(false);

interface DiffProps {
  lines: readonly string[];
  path: string;
  names?: [string, string];
  /** There is no room for two sides. */
  isNarrow?: boolean;
}

/** Every changed line is shown; nothing is cut. */
export function Diff({
  lines: drawn,
  path,
  names = ['Now', 'After approval'],
  isNarrow = false,
}: DiffProps): JSX.Element {
  // A change at the start of the file needs no line with its place.
  const lines = numbered(drawn[0] === '@@ line 1 @@' ? drawn.slice(1) : drawn);
  const { added, removed } = changedLines(drawn);
  const rows = pairs(lines);
  return (
    <div class={isNarrow || isInline.value ? 'diff inline' : 'diff'}>
      <div class="fh">
        <Icon name="file" />
        <code class="one">{visible(path)}</code>
        <span class="pm">
          <span class="plus">+{added}</span>
          <span class="minus">−{removed}</span>
        </span>
        {!isNarrow && (
          <span class="seg wideonly">
            <button type="button" aria-pressed={!isInline.value} onClick={() => (isInline.value = false)}>
              Side by side
            </button>
            <button type="button" aria-pressed={isInline.value} onClick={() => (isInline.value = true)}>
              Inline
            </button>
          </span>
        )}
      </div>
      <div class="two">
        <h3>{names[0]}</h3>
        <h3>{names[1]}</h3>
        {rows.map(([left, right], i) => (
          <div key={i} class="pair">
            <Cell line={left} number={left?.old} />
            <Cell line={right} number={right?.new} />
          </div>
        ))}
      </div>
      <div class="uni">
        {lines.map((line, i) => (
          <Cell key={i} line={line} number={line.new ?? line.old} />
        ))}
      </div>
    </div>
  );
}

export function changedLines(lines: readonly string[]): { added: number; removed: number } {
  const starting = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return { added: starting('+ '), removed: starting('- ') };
}

function Cell({ line, number }: { line: Line | undefined; number: number | undefined }): JSX.Element {
  if (line === undefined) return <div class="dl e" />;
  const tone = { '+': ' a', '-': ' d', '@': ' at', ' ': '' }[line.sign];
  const [from, to] = line.mark ?? [0, 0];
  return (
    <div class={`dl${tone}`}>
      <span>{number ?? ''}</span>
      <span>{line.sign === '+' ? '+' : line.sign === '-' ? '−' : ''}</span>
      <span>
        {to > from ? (
          <>
            {line.text.slice(0, from)}
            <mark>{line.text.slice(from, to)}</mark>
            {line.text.slice(to)}
          </>
        ) : (
          line.text
        )}
      </span>
    </div>
  );
}

/** `@@ line 7 @@` names the old number; the new one follows from the lines before it. */
function numbered(drawn: readonly string[]): Line[] {
  let old = 1;
  let shift = 0;
  return drawn.map((line): Line => {
    const start = /^@@ line (\d+) @@$/.exec(line)?.[1];
    if (start !== undefined) {
      old = Number(start);
      return { sign: '@', text: line };
    }
    const text = line.replace(/^[+\- ] ?/, '');
    if (line.startsWith('+')) return { sign: '+', text, new: old + shift++ };
    if (line.startsWith('-')) {
      shift--;
      return { sign: '-', text, old: old++ };
    }
    return { sign: ' ', text, old, new: old++ + shift };
  });
}

/** Removed lines are beside the added ones that replace them. */
function pairs(lines: readonly Line[]): Pair[] {
  const out: Pair[] = [];
  let removed: Line[] = [];
  let added: Line[] = [];
  const flush = (): void => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) {
      if (removed[i] !== undefined && added[i] !== undefined) markChange(removed[i]!, added[i]!);
      out.push([removed[i], added[i]]);
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.sign === '-') removed.push(line);
    else if (line.sign === '+') added.push(line);
    else {
      flush();
      out.push([line, line]);
    }
  }
  flush();
  return out;
}

/** Marks what differs between the common start and the common end of two lines. */
function markChange(before: Line, after: Line): void {
  const [a, b] = [before.text, after.text];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  before.mark = [start, a.length - end];
  after.mark = [start, b.length - end];
}
