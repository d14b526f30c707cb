/**
 * `ps` accepts two dialects at once, and the BSD one shows the environment of other processes (`ps
 * e`), which may contain keys. If its words are invalid as Unix options, ps reads all of them in
 * the BSD dialect, so `-ex` shows environments too.
 */

export function whyNotPs(words: string[]): string | undefined {
  let sawE = false;
  let sawX = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (word.startsWith('--')) {
      const [, name, value] = /^--([A-Za-z-]+)(=.*)?$/s.exec(word) ?? [];
      const kind = name === undefined ? undefined : LONG.get(name);
      if (kind === undefined || (kind === 'bare' && value !== undefined))
        return `ps ${word.slice(0, 40)} is not on the list`;
      const taken = kind === 'bare' ? '' : (value?.slice(1) ?? words[++at]);
      if (taken === undefined || !isFormat(taken)) return 'ps would show the environment of processes';
      continue;
    }
    const dashed = word.startsWith('-');
    const read = readLetters(dashed ? word.slice(1) : word, dashed, words[at + 1]);
    if (typeof read === 'string') return read;
    sawE ||= dashed && read.letters.includes('e');
    sawX ||= read.letters.includes('x') || (dashed && /[^a-zA-Z]/.test(word.slice(1)) && read.letters.includes('u'));
    at += read.used;
  }
  return sawE && sawX ? 'ps would read -e in its other dialect, which shows the environment of processes' : undefined;
}

function readLetters(
  text: string,
  dashed: boolean,
  next: string | undefined,
): { letters: string; used: number } | string {
  if (!dashed && /^\d[\d,]*$/.test(text)) return { letters: '', used: 0 };
  if (dashed && /^aux[wf]*$/.test(text)) return { letters: 'aux', used: 0 };
  let letters = '';
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    const valued = (dashed ? 'CgGoOpqstuUk' : 'oOpqtUk').includes(letter);
    if (!valued && !(dashed ? 'AaNdeFfHjlMPycLTmwVxZ' : 'aArTxfjlsuvXZHmcLnSVwgh').includes(letter)) {
      return letter === 'e'
        ? 'ps e shows the environment of processes'
        : `ps option ${letter} is not on the list of read-only options`;
    }
    letters += letter;
    if (!valued) continue;
    const rest = text.slice(at + 1);
    const value = rest === '' ? next : rest;
    if (value === undefined) return `ps option ${letter} has no value`;
    if (!isFormat(value)) return 'ps would show the environment of processes';
    // If the user is unknown, ps interprets the same letters by its BSD syntax.
    if (dashed && rest !== '' && 'uUgG'.includes(letter) && !/^(\d+|root)$/.test(rest))
      return 'ps may interpret this in two ways';
    if ('pq'.includes(letter) && !/^[\d, ]+$/.test(value)) return `ps option ${letter} takes process numbers`;
    return { letters, used: rest === '' ? 1 : 0 };
  }
  return text === '' ? 'ps got an empty word' : { letters, used: 0 };
}

/** A list of columns or a sort key that does not show the environment. */
function isFormat(value: string): boolean {
  return !/env/i.test(value);
}

const LONG = new Map<string, 'bare' | 'value'>([
  ...'deselect forest context headers no-headers no-heading noheaders noheading cumulative version help info'
    .split(' ')
    .map((name) => [name, 'bare'] as const),
  ...'Group User cols columns format group lines pid ppid quick-pid rows sid sort tty user width'
    .split(' ')
    .map((name) => [name, 'value'] as const),
]);
