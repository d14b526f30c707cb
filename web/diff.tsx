/** A line diff as the server made it, side by side where there is room and unified elsewhere. */
import type { JSX } from 'preact';
import { Icon } from './icons.tsx';
import { visible } from './text.ts';

interface Line {
  sign: '+' | '-' | ' ' | '@';
  text: string;
}

/** Every changed line is shown; nothing is cut. */
export function Diff({ lines: drawn, path }: { lines: readonly string[]; path: string }): JSX.Element {
  const lines = drawn.map(lineOf);
  const added = lines.filter(({ sign }) => sign === '+').length;
  const removed = lines.filter(({ sign }) => sign === '-').length;
  return (
    <div class="diff">
      <div class="fh">
        <Icon name="file" />
        <code>{visible(path)}</code>
        <span class="pm">
          <span class="plus">+{added}</span>
          <span class="minus">−{removed}</span>
        </span>
      </div>
      <div class="two" aria-hidden="true">
        <h3>Now</h3>
        <h3>After approval</h3>
        {pairs(lines).map(([left, right], i) => (
          <div key={i} class="pair">
            <Cell line={left} />
            <Cell line={right} />
          </div>
        ))}
      </div>
      <div class="uni">
        {lines.map((line, i) => (
          <Cell key={i} line={line} />
        ))}
      </div>
    </div>
  );
}

function Cell({ line }: { line: Line | undefined }): JSX.Element {
  const tone = { '+': ' a', '-': ' d', '@': ' at', ' ': '' }[line?.sign ?? ' '];
  return (
    <div class={`dl${line === undefined ? ' e' : tone}`}>
      <span>{line?.sign === '+' || line?.sign === '-' ? line.sign.replace('-', '−') : ''}</span>
      <span>{line?.text ?? ''}</span>
    </div>
  );
}

function lineOf(line: string): Line {
  if (line.startsWith('@@')) return { sign: '@', text: line };
  const sign = line[0] === '+' || line[0] === '-' ? line[0] : ' ';
  return { sign, text: line.replace(/^[+\- ] ?/, '') };
}

/** Removed lines stand beside the added ones that replace them. */
function pairs(lines: readonly Line[]): [Line | undefined, Line | undefined][] {
  const out: [Line | undefined, Line | undefined][] = [];
  let removed: Line[] = [];
  let added: Line[] = [];
  const flush = (): void => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) out.push([removed[i], added[i]]);
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
