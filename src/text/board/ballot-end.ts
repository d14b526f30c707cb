/**
 * The last line of the ballot. It names the version of the ballot that a person sees, and shows
 * that the file is complete: a file without it is half saved.
 */
import { eolAt } from './edit.js';

interface BallotText {
  body: string;
  version: number;
  /** The end line is the last line. */
  isComplete: boolean;
}

/** Text of agents is indented, so it cannot contain an end line. */
const END = /^<!-- end of approvals, version (\d{1,15})\b[^\n]*-->[ \t]*\r?(?:\n|$(?![^]))/gm;

export function splitEnd(text: string): BallotText {
  const lines = [...text.matchAll(END)];
  const last = lines.at(-1);
  return {
    body: last === undefined ? text : text.replaceAll(END, ''),
    version: lines.reduce((highest, line) => Math.max(highest, Number(line[1])), 0),
    isComplete: last !== undefined && text.slice(last.index + last[0].length).trim() === '',
  };
}

export function withEnd(body: string, version: number): string {
  const eol = eolAt(body, body.length);
  const ended = body === '' || body.endsWith('\n') ? body : body + eol;
  const gap = /(?:^|\n)\r?\n$/.test(ended) ? '' : eol;
  return `${ended}${gap}<!-- end of approvals, version ${version}; keep this line last -->${eol}`;
}
