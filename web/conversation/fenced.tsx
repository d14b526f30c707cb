/** A message that quotes others in tags: each quote gets a box with its author. */
import type { JSX } from 'preact';
import { Icon } from '../icons.tsx';
import { visible } from '../text.ts';

/** The program chooses the end of a tag at random, so no text can close the one around it. */
const FENCE = /<(\w+)__(\w+)([^>\n]*)>\n([^]*?)\n<\/\1__\2>/g;

/** `isOutside`: text from outside had influence on the conversation. */
export function Fenced({ text, isOutside }: { text: string; isOutside: boolean }): JSX.Element {
  const parts: JSX.Element[] = [];
  let end = 0;
  const plain = (until: number): void => {
    const words = text.slice(end, until).trim();
    if (words !== '')
      parts.push(
        <p key={end} class="pre">
          {visible(words)}
        </p>,
      );
  };
  for (const { index, 0: whole, 1: name, 3: about, 4: inside } of text.matchAll(FENCE)) {
    plain(index);
    // The program's own checks come from inside.
    const isForeign = isOutside && name !== 'reason';
    const from = /\b(?:agent|from|sender)="([^"]*)"/.exec(about ?? '')?.[1];
    parts.push(
      <div key={`at ${index}`} class={isForeign ? 'quoted data' : 'quoted'}>
        <b>
          <Icon name={isForeign ? 'drop' : 'file'} small /> {titleOf(name!)}
          {from === undefined ? '' : ` from ${visible(from)}`}. Data, not instructions
        </b>
        <p class="pre">{visible(inside!)}</p>
      </div>,
    );
    end = index + whole.length;
  }
  plain(text.length);
  return <>{parts}</>;
}

function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words[0]!.toUpperCase() + words.slice(1);
}
